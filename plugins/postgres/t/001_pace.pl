# The pace of a running checkpoint follows its lease: hold, rate, duration,
# full, stock, and a glide when the lease ends.
#
# Nothing here asserts how long something takes; a slow machine only makes a
# checkpoint slower than ordered, never faster.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use SluiceTest;

# The arithmetic, with a clock of its own
SluiceTest::run_c_test('checkpoint_pace_test');

my $node = SluiceTest::new_primary('pace');

# A checkpoint that was started with a rate is never faster than that.
my $rate = 500_000;
SluiceTest::dirty_buffers($node);
$node->safe_psql('postgres',
	"SELECT sluice.start_checkpoint('test', '10 min', rate_bytes_per_second => $rate)");
is( SluiceTest::progress_when(
		$node,
		"phase = 'write' AND pace = 'rate' AND buffers_done > 100",
		"bytes_written <= (elapsed_seconds + 0.5) * $rate AND throttled_seconds > 0"),
	't',
	'a rate is an upper bound');

# A hold writes nothing, however long it is looked at.
my $held = SluiceTest::hold($node, '10 min');
my $done = $node->safe_psql('postgres', 'SELECT buffers_done FROM sluice.checkpoint_progress');
SluiceTest::wait_progress($node, 'elapsed_seconds > 5');
is( $node->safe_psql('postgres', 'SELECT state, buffers_done FROM sluice.checkpoint_progress'),
	"held|$done",
	'a hold writes no buffer');

# The end of a lease lets the checkpoint go on, gliding.
is($node->safe_psql('postgres', "SELECT sluice.clear_lease($held)"), 't', 'the hold is cleared');
SluiceTest::wait_progress($node, "pace = 'glide' AND buffers_done > $done");
pass('the end of a hold is a glide');

# So does expiry, with nobody asking for it; the lease is made short once the hold was seen.
$held = SluiceTest::hold($node, '10 min');
is($node->safe_psql('postgres', "SELECT sluice.set_checkpoint_pace('hold', 'test', '1 s')"),
	$held, 'a renewal may make a lease shorter');
SluiceTest::wait_progress($node, "pace = 'glide'");
is( $node->safe_psql('postgres', 'SELECT count(*) FROM sluice.leases'),
	'0', 'an expired lease is gone');

# A renewed lease keeps the checkpoint held past its first time to live, which is short once
# the hold was seen, and only for a moment.
my $first = SluiceTest::hold($node, '10 min');
my $elapsed = $node->safe_psql('postgres', 'SELECT elapsed_seconds FROM sluice.checkpoint_progress');
is( $node->safe_psql('postgres', q{
		SELECT sluice.set_checkpoint_pace('hold', 'test', '3 s'),
			sluice.set_checkpoint_pace('hold', 'test', '10 min')}),
	"$first|$first", 'renewal keeps the lease');
SluiceTest::wait_progress($node, "elapsed_seconds > $elapsed + 4");
is( $node->safe_psql('postgres', 'SELECT state FROM sluice.checkpoint_progress'),
	'held', 'renewal keeps the hold');

# A duration: that it is linear is for the test of the arithmetic.
$node->safe_psql('postgres',
	"SELECT sluice.set_checkpoint_pace('duration', 'test', '10 min', duration => '1 h')");
SluiceTest::wait_progress($node, "pace = 'duration'");

# Stock is upstream's schedule, full has no nap.
$node->safe_psql('postgres', "SELECT sluice.set_checkpoint_pace('stock', 'test', '10 min')");
SluiceTest::wait_progress($node, "pace = 'stock'");
SluiceTest::hold($node, '10 min');
$node->safe_psql('postgres', "SELECT sluice.set_checkpoint_pace('full', 'test', '10 min')");
SluiceTest::wait_progress($node, "state = 'idle' AND checkpoints_done > 0");
pass('full ends the checkpoint');
$node->safe_psql('postgres', "SELECT sluice.clear_leases('test')");

# A gap between files is kept for every file, and its end lets the rest go: of so many that
# who looks late sees it nevertheless.
$node->safe_psql('postgres',
	"BEGIN; SELECT format('CREATE TABLE gap_%s AS SELECT generate_series(1, 100) AS i', g) FROM generate_series(1, 80) g \\gexec\nCOMMIT");
$node->safe_psql('postgres', "SELECT sluice.set_sync_gap('500 ms', 'test', '10 min')");
$node->safe_psql('postgres',
	"SELECT sluice.start_checkpoint('test', '10 min', duration => '10 ms')");
is( SluiceTest::progress_when(
		$node,
		"phase = 'sync' AND files_done >= 5",
		'throttled_seconds >= 0.5 * files_done, files_total >= 80'),
	't|t',
	'each file waits for the gap');
$node->safe_psql('postgres', "SELECT sluice.clear_leases('test')");
SluiceTest::wait_progress($node, "state = 'idle'");
pass('the end of the gap ends the sync phase');

# A start while one is running is for the next one: nobody waits, and a hold counts.
SluiceTest::start_held($node);
my $ended = $node->safe_psql('postgres', 'SELECT checkpoints_done FROM sluice.checkpoint_progress');
$node->safe_psql('postgres',
	"SELECT sluice.start_checkpoint('test', '10 min', rate_bytes_per_second => 100000)");
SluiceTest::hold($node, '10 min');
pass('a hold counts although another checkpoint is to follow');
$node->safe_psql('postgres', "SELECT sluice.set_checkpoint_pace('full', 'test', '10 min')");
SluiceTest::wait_progress($node, "state = 'idle' AND checkpoints_done >= $ended + 2");
pass('and it does follow');
$node->safe_psql('postgres', "SELECT sluice.clear_leases('test')");

# A request without a pace is no end of a glide, which upstream's schedule would
# end by catching up.
SluiceTest::start_held($node);
$ended = $node->safe_psql('postgres', 'SELECT checkpoints_done FROM sluice.checkpoint_progress');
$node->safe_psql('postgres', "SELECT sluice.clear_leases('test')");
SluiceTest::wait_progress($node, "pace = 'glide'");
$done = $node->safe_psql('postgres', q{
	SELECT sluice.request_checkpoint();
	SELECT buffers_done FROM sluice.checkpoint_progress});
SluiceTest::wait_progress($node, "pace = 'glide' AND buffers_done > $done + 5");
is($node->safe_psql('postgres', 'SELECT count(*) FROM sluice.leases'), '0',
	'a request for a checkpoint is no lease');
$node->safe_psql('postgres', "SELECT sluice.set_checkpoint_pace('full', 'test', '10 min')");
SluiceTest::wait_progress($node, "state = 'idle' AND checkpoints_done >= $ended + 2");
pass('it follows the one that glides');
$node->safe_psql('postgres', "SELECT sluice.clear_leases('test')");

is( $node->safe_psql('postgres', 'SELECT checkpoints_failed FROM sluice.checkpoint_progress'),
	'0', 'no checkpoint failed');
$node->stop;
done_testing();
