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

# Write WAL until there is so much of it, and at most a segment more.
sub fill_wal_to
{
	my ($megabytes) = @_;
	switch_wal()
	  while $node->safe_psql('postgres',
		"SELECT wal_distance_bytes < ${megabytes}::bigint << 20 FROM sluice.checkpoint_progress") eq 't';
	return;
}

sub set_and_wait
{
	my ($name, $value) = @_;
	$node->safe_psql('postgres', "ALTER SYSTEM SET $name = '$value'");
	$node->reload;
	$node->poll_query_until('postgres', "SELECT current_setting('$name') = '$value'")
	  or die 'setting not in force';
	return;
}

sub done_count
{
	return $node->safe_psql('postgres', 'SELECT checkpoints_done FROM sluice.checkpoint_progress');
}

# Due by WAL, put off, and released when the lease is cleared
set_and_wait('max_wal_size', '64MB');
set_and_wait('sluice.wal_bound', '512MB');
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

# One that an order has put off goes by the WAL that is left up to the bound:
# by upstream's schedule, a segment of WAL would let it write a quarter.
set_and_wait('max_wal_size', '128MB');
set_and_wait('sluice.wal_bound', '112MB');
$node->safe_psql('postgres', 'CHECKPOINT');
$before = done_count();
$node->safe_psql('postgres',
	"SELECT sluice.defer_checkpoint(96 * 1024 * 1024, 'test', '10 min')");
SluiceTest::dirty_buffers($node);
fill_wal_to(96);
SluiceTest::wait_progress($node, "phase = 'write' AND pace = 'glide'");
switch_wal();
SluiceTest::wait_progress($node, "checkpoints_done > $before");
pass('a checkpoint that was put off ends at the WAL bound');
my ($ret, $stdout, $stderr) =
  $node->psql('postgres', "SELECT sluice.defer_checkpoint(1, 'test', '1 s')");
like($stderr, qr/has reached the order's end.*HINT:/s, 'a deferral that is over is refused');

# Put off to the bound, it makes haste however little that is past upstream's
# trigger: by upstream's schedule there would be a nap after each buffer.
set_and_wait('sluice.wal_bound', '68MB');
switch_wal();
$node->safe_psql('postgres', 'CHECKPOINT');
$before = done_count();
$node->safe_psql('postgres',
	"SELECT sluice.defer_checkpoint(68 * 1024 * 1024, 'test', '10 min')");
SluiceTest::dirty_buffers($node) for 1 .. 2;
fill_wal_to(40);
$node->safe_psql('postgres', "SELECT pg_logical_emit_message(false, 't', repeat('x', 500000))")
  until $node->safe_psql('postgres', 'SELECT count(*) FROM sluice.leases') eq '0';
SluiceTest::wait_progress($node, "checkpoints_done > $before");
pass('a checkpoint that was put off to the WAL bound makes haste');

# Due by time; from here on WAL triggers nothing
set_and_wait('max_wal_size', '2GB');
set_and_wait('sluice.wal_bound', '512MB');
$node->safe_psql('postgres', 'CHECKPOINT');
$before = done_count();
$node->safe_psql('postgres', "SELECT sluice.defer_checkpoint(128 * 1024 * 1024, 'test', '10 min')");
switch_wal();
set_and_wait('checkpoint_timeout', '30s');
SluiceTest::wait_progress($node, "state = 'deferred'");
is(done_count(), $before, 'a checkpoint that is due by time is put off');

# An explicit request is not put off
$node->safe_psql('postgres', 'CHECKPOINT');
cmp_ok(done_count(), '>', $before, 'CHECKPOINT is not put off');
$node->safe_psql('postgres', "SELECT sluice.clear_leases('test')");

# What one lease put off, until a setting was changed, the next does not
$node->safe_psql('postgres', "SELECT sluice.defer_checkpoint(128 * 1024 * 1024, 'test', '10 min')");
switch_wal();
SluiceTest::wait_progress($node, "state = 'deferred'");
set_and_wait('checkpoint_timeout', '1h');
$node->safe_psql('postgres', q{
	SELECT sluice.clear_leases('test');
	SELECT sluice.defer_checkpoint(128 * 1024 * 1024, 'test', '10 min')});
is($node->safe_psql('postgres', 'SELECT state FROM sluice.checkpoint_progress'),
	'idle', 'a lease that puts nothing off is not shown as if it did');
$node->safe_psql('postgres', "SELECT sluice.clear_leases('test')");

# The WAL bound ends a hold, says so, and the checkpoint makes haste: by
# upstream's schedule there would be most of an hour left.
set_and_wait('sluice.wal_bound', '96MB');
$node->safe_psql('postgres', 'CHECKPOINT');
$before = done_count();
my $offset = -s $node->logfile;
SluiceTest::start_held($node);
fill_wal_to(96);
SluiceTest::wait_progress($node, "checkpoints_done > $before");
pass('at the WAL bound a checkpoint makes haste');
$node->wait_for_log(qr/pace lease of "test" ended at the WAL bound of 96 MB/, $offset);
is($node->safe_psql('postgres', 'SELECT count(*) FROM sluice.leases'),
	'0', 'the WAL bound ends every lease');

# At the bound an order is refused
$node->safe_psql('postgres', 'CHECKPOINT');
set_and_wait('sluice.wal_bound', '1MB');
switch_wal();
switch_wal();
($ret, $stdout, $stderr) = $node->psql('postgres',
	"SELECT sluice.set_checkpoint_pace('hold', 'test', '1 s')");
like($stderr, qr/has reached the order's end.*HINT:/s, 'an order beyond the bound is refused');

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
