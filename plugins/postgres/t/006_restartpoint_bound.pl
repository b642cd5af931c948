# The WAL bound of a standby, whose restartpoints start with a whole cycle of
# the primary behind them; its redo rate; and a server with nothing to do.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use SluiceTest;

my $primary = SluiceTest::new_primary('primary');
$primary->append_conf('postgresql.conf', q{
max_wal_size = 64MB
checkpoint_completion_target = 0
});
$primary->reload;
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', q{
fsync = on
restart_after_crash = on
});
$standby->start;

# Hold what comes, and let WAL alone trigger checkpoint and restartpoint
$standby->safe_psql('postgres', "SELECT sluice.set_checkpoint_pace('hold', 'test', '10 min')");
for (1 .. 20)
{
	last
	  if $standby->safe_psql('postgres',
		"SELECT kind = 'restartpoint' FROM sluice.checkpoint_progress") eq 't';
	SluiceTest::dirty_buffers($primary);
	$primary->wait_for_replay_catchup($standby);
}
SluiceTest::wait_progress($standby, "kind = 'restartpoint' AND state = 'held'");
pass('a hold counts in a restartpoint that WAL has triggered');
is( $standby->safe_psql('postgres', 'SELECT wal_bound_bytes FROM sluice.checkpoint_progress'),
	128 << 20, 'the bound of a standby is twice max_wal_size');

# The next start is asked for, so that no deferral puts it off.
$standby->safe_psql('postgres', "SELECT sluice.clear_leases('test')");
$standby->safe_psql('postgres', "SELECT sluice.set_checkpoint_pace('full', 'test', '10 min')");
SluiceTest::wait_progress($standby, "state = 'idle'");
$primary->safe_psql('postgres', 'CHECKPOINT');
$primary->wait_for_replay_catchup($standby);
my $before = $standby->safe_psql('postgres', 'SELECT checkpoints_done FROM sluice.checkpoint_progress');
$standby->safe_psql('postgres', "SELECT sluice.defer_checkpoint(120 * 1024 * 1024, 'test', '10 min')");
$standby->safe_psql('postgres', "SELECT sluice.start_checkpoint('test', '10 min', duration => '10 ms')");
SluiceTest::wait_progress($standby, "checkpoints_done > $before");
pass('a deferral does not put off a restartpoint that was started');

# The redo rate is measured on after the crash of a process.  The crash loses the rate; what may
# be in force then comes from a file, and is read before there is more to replay.
my $checkpointer = $standby->safe_psql('postgres',
	"SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
kill 9, $checkpointer;
$standby->poll_query_until('postgres', qq{
	SELECT count(*) = 1 FROM pg_stat_activity, pg_stat_wal_receiver
	WHERE backend_type = 'checkpointer' AND pg_stat_activity.pid <> $checkpointer AND status = 'streaming'})
  or die 'the standby did not come back';
my $redo_rate = 'SELECT coalesce(redo_bytes_per_second, 0) FROM sluice.checkpoint_progress';
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
$standby->poll_query_until('postgres', "SELECT pg_get_wal_replay_pause_state() = 'paused'")
  or die 'replay was not paused';
my $rate = $standby->safe_psql('postgres', $redo_rate);
# What is replayed between two samples is not measured, so that a fast machine needs more than once.
for (1 .. 20)
{
	SluiceTest::dirty_buffers($primary) for 1 .. 5;
	$primary->wait_for_catchup($standby, 'flush');
	$standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
	$primary->wait_for_replay_catchup($standby);
	last if $standby->safe_psql('postgres', $redo_rate) ne $rate;
	$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
}
isnt($standby->safe_psql('postgres', $redo_rate), $rate,
	'a process that crashes does not end the measurement of redo');
$standby->stop;

# With nothing to do, a checkpoint that time has triggered is left out, and has not failed.
$primary->append_conf('postgresql.conf', q{
checkpoint_timeout = 30s
log_min_messages = debug1
});
$primary->safe_psql('postgres', 'CHECKPOINT');
my $offset = -s $primary->logfile;
$primary->reload;
$primary->wait_for_log(qr/checkpoint skipped because system is idle/, $offset);
is( $primary->safe_psql('postgres', 'SELECT checkpoints_failed FROM sluice.checkpoint_progress'),
	'0', 'a checkpoint that is left out has not failed');
$primary->stop;
done_testing();
