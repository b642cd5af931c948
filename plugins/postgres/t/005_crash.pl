# kill -9 at each point at which the extension makes the checkpointer wait.
#
# Afterwards the server recovers by itself, the sum over pgbench's transactions
# holds, every index agrees with its table, and every checksum is right.  That
# pages which were never synced may be lost as well is tested with a disk that
# loses them: tests/postgres/test_power_loss.py.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use SluiceTest;

my $rounds = $ENV{SLUICE_CRASH_ROUNDS} // 1;
my $node = SluiceTest::new_primary('crash');
$node->safe_psql('postgres', 'CREATE EXTENSION amcheck');
$node->append_conf('postgresql.conf', "restart_after_crash = off\nwal_keep_size = 0");
$node->command_ok([ 'pgbench', '-i', '-q', '-s', '2', 'postgres' ], 'load');
$node->restart;

# Wait until something is true of the checkpointer under a running load.
my %points = (
	'a held write phase' => {
		order => q{SELECT sluice.start_checkpoint('test', '10 min', rate_bytes_per_second => 65536)},
		until => q{phase = 'write' AND buffers_done > 0},
		then => q{SELECT sluice.set_checkpoint_pace('hold', 'test', '10 min')},
		until_then => q{state = 'held'},
	},
	'a paced write phase' => {
		order => q{SELECT sluice.start_checkpoint('test', '10 min', rate_bytes_per_second => 300000)},
		until => q{phase = 'write' AND pace = 'rate' AND buffers_done > 10},
	},
	'the middle of the sync phase' => {
		order => q{SELECT sluice.set_sync_gap('3 s', 'test', '10 min');
			SELECT sluice.start_checkpoint('test', '10 min', duration => '10 ms')},
		until => q{phase = 'sync' AND files_done BETWEEN 1 AND files_total - 1},
	},
	'a real deferral' => {
		order => q{SELECT sluice.defer_checkpoint(1::bigint << 30, 'test', '10 min');
			ALTER SYSTEM SET max_wal_size = '32MB'; ALTER SYSTEM SET sluice.wal_bound = '1GB';
			SELECT pg_reload_conf(); SELECT pg_switch_wal()},
		until => q{state = 'deferred' AND wal_distance_bytes > 32 * 1024 * 1024},
	});

# As long as a killed postmaster has not been reaped, its lock file stands.
sub crash
{
	my ($victim) = @_;
	my ($pid) = slurp_file($victim->data_dir . '/postmaster.pid') =~ /^(\d+)$/m;

	$victim->kill9;
	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		last if !kill(0, $pid);
		select(undef, undef, undef, 0.1);
	}
	return;
}

# A load that runs until the server crashes or end_load is called, and has begun.
sub start_load
{
	my ($out, $err) = ('', '');
	my $before = transactions();
	my $load = IPC::Run::start(
		[ 'pgbench', '-n', '-c', '4', '-T', '600', '-d', $node->connstr('postgres') ],
		'>', \$out, '2>', \$err);

	$node->poll_query_until('postgres', "SELECT count(*) > $before FROM pgbench_history")
	  or die "there is no load: $err";
	return $load;
}

# Afterwards no session of the load is left that could still commit.
sub end_load
{
	my ($load) = @_;
	$node->safe_psql('postgres', q{
		SELECT pg_terminate_backend(pid, 180000) FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()});
	$load->finish;
	return;
}

sub transactions
{
	return $node->safe_psql('postgres', 'SELECT count(*) FROM pgbench_history');
}

sub check_no_lease
{
	my ($server, $point) = @_;
	is($server->safe_psql('postgres', 'SELECT count(*) FROM sluice.leases'),
		'0', "no lease outlives $point");
	return;
}

# Further arguments are options of pg_amcheck.
sub check_consistency
{
	my ($server, $point, @options) = @_;
	is( $server->safe_psql('postgres', q{
			SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history)
			   AND (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT sum(delta) FROM pgbench_history)
			   AND (SELECT sum(bbalance) FROM pgbench_branches) = (SELECT sum(delta) FROM pgbench_history)}),
		't', "after $point the sums agree");
	$server->command_ok(
		[ 'pg_amcheck', '--heapallindexed', @options, 'postgres' ],
		"after $point amcheck finds nothing");
	$server->stop;
	$server->command_ok([ 'pg_checksums', '-c', '-D', $server->data_dir ],
		"after $point the checksums are right");
	$server->start;
	return;
}

sub crash_in
{
	my ($point, $steps) = @_;
	my $load = start_load();

	SluiceTest::dirty_buffers($node);
	$node->safe_psql('postgres', $steps->{order});
	SluiceTest::wait_progress($node, $steps->{until});
	if ($steps->{then})
	{
		$node->safe_psql('postgres', $steps->{then});
		SluiceTest::wait_progress($node, $steps->{until_then});
	}
	crash($node);
	$load->finish;
	$node->start;
	check_no_lease($node, $point);
	$node->safe_psql('postgres', 'ALTER SYSTEM RESET ALL');
	$node->reload;
	$node->safe_psql('postgres', 'TRUNCATE pages');
	check_consistency($node, $point, '--parent-check');
	return;
}

# The primary goes on under its load.  A standby cannot take the lock of a parent check.
sub crash_standby
{
	my ($standby) = @_;
	my $point = 'a held restartpoint of the standby';
	my $load = start_load();

	$node->safe_psql('postgres', 'TRUNCATE pages');
	SluiceTest::dirty_buffers($node);
	$node->safe_psql('postgres', 'CHECKPOINT');
	$node->wait_for_replay_catchup($standby);
	$standby->safe_psql('postgres',
		"SELECT sluice.start_checkpoint('test', '10 min', rate_bytes_per_second => 65536)");
	SluiceTest::wait_progress($standby, "kind = 'restartpoint' AND phase = 'write'");
	SluiceTest::hold($standby, '10 min');
	crash($standby);
	my $transactions = transactions();
	$node->poll_query_until('postgres', "SELECT count(*) > $transactions FROM pgbench_history")
	  or die 'the load has ended';
	end_load($load);
	$standby->start;
	$node->wait_for_replay_catchup($standby);
	check_no_lease($standby, $point);
	my $contents = 'SELECT count(*), sum(i), (SELECT count(*) FROM pgbench_history) FROM pages';
	is($standby->safe_psql('postgres', $contents), $node->safe_psql('postgres', $contents),
		"after $point the standby has everything");
	check_consistency($standby, $point);
	return;
}

for my $round (1 .. $rounds)
{
	note("round $round of $rounds");
	crash_in($_, $points{$_}) for sort keys %points;
}
cmp_ok(transactions(), '>', 0, 'there was a load');

# A restartpoint held on a standby
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('crash_standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "fsync = on\nrestart_after_crash = off");
$node->append_conf('postgresql.conf', 'wal_keep_size = 1GB');
$node->reload;
$standby->start;
for my $round (1 .. $rounds)
{
	note("round $round of $rounds on the standby");
	crash_standby($standby);
}
$standby->promote;
$node->stop;
check_consistency($standby, 'promotion', '--parent-check');
$standby->stop;
done_testing();
