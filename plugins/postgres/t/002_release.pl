# While a checkpoint is held, everything that needs one gets it.
#
# Each hold has a lease of ten minutes, longer than any time-out here: whatever
# waited for the lease would fail the test.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use SluiceTest;

my $node = SluiceTest::new_primary('primary');

# Upstream's own pace is full speed then, so that only a lease can delay.
$node->append_conf('postgresql.conf', 'checkpoint_completion_target = 0');
$node->reload;
$node->safe_psql('postgres', 'CREATE DATABASE doomed');

SluiceTest::start_held($node);
$node->safe_psql('postgres', 'CHECKPOINT');
is($node->safe_psql('postgres', 'SELECT state FROM sluice.checkpoint_progress'),
	'idle', 'CHECKPOINT goes through a hold');
is($node->safe_psql('postgres', 'SELECT mode FROM sluice.leases'),
	'hold', 'and leaves the lease alone');
$node->safe_psql('postgres', "SELECT sluice.clear_leases('test')");

SluiceTest::start_held($node);
$node->safe_psql('postgres', 'DROP DATABASE doomed');
pass('DROP DATABASE goes through a hold');

for my $pace ('fast', 'spread')
{
	SluiceTest::start_held($node);
	$node->command_ok(
		[
			'pg_basebackup', '-D', $node->backup_dir . "/$pace",
			'-h', $node->host, '-p', $node->port,
			"--checkpoint=$pace", '--no-sync'
		],
		"a base backup with a $pace checkpoint goes through a hold");
}

# The hold of a restartpoint, and promotion
my $backup = $node->backup_dir . '/fast';
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'fast', has_streaming => 1);
$standby->append_conf('postgresql.conf', 'fsync = on');
$standby->start;

SluiceTest::dirty_buffers($node);
$node->safe_psql('postgres', 'CHECKPOINT');
$node->wait_for_replay_catchup($standby);
$standby->safe_psql('postgres',
	"SELECT sluice.start_checkpoint('test', '10 min', rate_bytes_per_second => 100000)");
SluiceTest::wait_progress($standby, "kind = 'restartpoint' AND phase = 'write'");
SluiceTest::hold($standby, '10 min');
is( $standby->safe_psql('postgres', 'SELECT state, kind FROM sluice.checkpoint_progress'),
	'held|restartpoint', 'a restartpoint is held');
$standby->promote;
$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()')
  or die 'promotion did not end';
pass('promotion goes through a hold');
SluiceTest::wait_progress($standby, "kind IS DISTINCT FROM 'restartpoint'");
pass('and the restartpoint makes way for the checkpoint that promotion asks for');
$standby->safe_psql('postgres', 'CREATE TABLE after_promotion AS SELECT 1 AS i');
$standby->safe_psql('postgres', "SELECT sluice.clear_leases('test')");

# Fast stops
for my $server ($node, $standby)
{
	SluiceTest::start_held($server);
	$server->stop('fast');
	pass('a fast stop goes through a hold');
	command_like(
		[ 'pg_controldata', $server->data_dir ],
		qr/Database cluster state:\s+shut down\n/,
		'with a shutdown checkpoint');
}
done_testing();
