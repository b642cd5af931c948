# Deferral, and the WAL bound that ends every order.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use SluiceTest;

my $node = SluiceTest::new_primary('bounds');

sub switch_wal
{
	$node->safe_psql('postgres', 'SELECT pg_logical_emit_message(true, \'t\', \'x\'); SELECT pg_switch_wal()');
	return;
}

sub done_count
{
	return $node->safe_psql('postgres', 'SELECT checkpoints_done FROM sluice.checkpoint_progress');
}

# Due by WAL, put off, and released when the lease is cleared
$node->safe_psql('postgres', 'ALTER SYSTEM SET max_wal_size = \'64MB\'');
$node->safe_psql('postgres', 'ALTER SYSTEM SET sluice.wal_bound = \'512MB\'');
$node->reload;
$node->poll_query_until('postgres', "SELECT current_setting('max_wal_size') = '64MB'")
  or die 'setting not in force';
my $before = done_count();
my $lease = $node->safe_psql('postgres',
	"SELECT sluice.defer_checkpoint(256 * 1024 * 1024, 'test', '10 min')");
switch_wal() for 1 .. 5;
SluiceTest::wait_progress($node, "state = 'deferred' AND deferrals = 1");
is(done_count(), $before, 'a checkpoint that is due by WAL is put off');
$node->safe_psql('postgres', "SELECT sluice.clear_lease($lease)");
SluiceTest::wait_progress($node, "checkpoints_done > $before");
pass('the end of the lease lets it start');

# Put off up to the WAL distance of the lease
$before = done_count();
$node->safe_psql('postgres',
	"SELECT sluice.defer_checkpoint(128 * 1024 * 1024, 'test', '10 min')");
switch_wal() for 1 .. 5;
SluiceTest::wait_progress($node, "state = 'deferred'");
switch_wal() for 1 .. 5;
SluiceTest::wait_progress($node, "checkpoints_done > $before");
is( $node->safe_psql('postgres', "SELECT leases FROM sluice.lease_ends WHERE ended_by = 'wal_bound'"),
	'1', 'deferral ends at its WAL distance');

# Due by time; from here on WAL triggers nothing
$node->safe_psql('postgres', 'ALTER SYSTEM SET max_wal_size = \'2GB\'');
$node->reload;
$node->poll_query_until('postgres', "SELECT current_setting('max_wal_size') = '2GB'")
  or die 'setting not in force';
SluiceTest::wait_progress($node, "state = 'idle'");
$node->safe_psql('postgres', 'CHECKPOINT');
$before = done_count();
$node->safe_psql('postgres', "SELECT sluice.defer_checkpoint(128 * 1024 * 1024, 'test', '10 min')");
switch_wal();
$node->safe_psql('postgres', 'ALTER SYSTEM SET checkpoint_timeout = \'30s\'');
$node->reload;
SluiceTest::wait_progress($node, "state = 'deferred'");
is(done_count(), $before, 'a checkpoint that is due by time is put off');

# An explicit request is not put off
$node->safe_psql('postgres', 'CHECKPOINT');
cmp_ok(done_count(), '>', $before, 'CHECKPOINT is not put off');
$node->safe_psql('postgres', "SELECT sluice.clear_leases('test')");
$node->safe_psql('postgres', 'ALTER SYSTEM SET checkpoint_timeout = \'1h\'');
$node->reload;
$node->poll_query_until('postgres', "SELECT current_setting('checkpoint_timeout') = '1h'")
  or die 'setting not in force';

# The WAL bound ends a hold, and says so
SluiceTest::start_held($node);
$node->safe_psql('postgres', 'ALTER SYSTEM SET sluice.wal_bound = \'96MB\'');
$node->reload;
my $offset = -s $node->logfile;
switch_wal() for 1 .. 7;
SluiceTest::wait_progress($node, "state <> 'held'");
$node->wait_for_log(qr/pace lease of "test" ended at the WAL bound of 96 MB/, 0);
is($node->safe_psql('postgres', 'SELECT count(*) FROM sluice.leases'),
	'0', 'the WAL bound ends every lease');

# At the bound an order is refused
my ($ret, $stdout, $stderr) = (0, '', '');
$node->safe_psql('postgres', 'CHECKPOINT');
$node->safe_psql('postgres', 'ALTER SYSTEM SET sluice.wal_bound = \'1MB\'');
$node->reload;
$node->poll_query_until('postgres', "SELECT current_setting('sluice.wal_bound') = '1MB'")
  or die 'setting not in force';
switch_wal();
switch_wal();
($ret, $stdout, $stderr) = $node->psql('postgres',
	"SELECT sluice.set_checkpoint_pace('hold', 'test', '1 s')");
like($stderr, qr/has reached the bound.*HINT:/s, 'an order beyond the bound is refused');

# The clock of the redo estimate: a crash, and recovery measures itself
$node->safe_psql('postgres', 'ALTER SYSTEM RESET sluice.wal_bound');
$node->reload;
is( $node->safe_psql('postgres', 'SELECT redo_bytes_per_second IS NULL FROM sluice.checkpoint_progress'),
	't', 'no redo, no redo rate');
SluiceTest::dirty_buffers($node) for 1 .. 5;
$node->stop('immediate');
$node->start;
SluiceTest::wait_progress($node, 'redo_bytes_per_second > 0 AND estimated_redo_seconds >= 0');
pass('crash recovery calibrates the redo rate');
my $rate = $node->safe_psql('postgres', 'SELECT redo_bytes_per_second FROM sluice.checkpoint_progress');
$node->restart;
cmp_ok(
	abs($node->safe_psql('postgres',
			'SELECT redo_bytes_per_second FROM sluice.checkpoint_progress') / $rate - 1),
	'<', 0.01, 'and a clean restart keeps it');
$node->stop;
done_testing();
