# What is in a statement's time, and how the intervals follow the clock.
#
# Lower bounds only are asserted of durations: a statement that waited for
# something is not faster than what it waited for.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LatencyTest;

my $node = LatencyTest::new_server('time');
LatencyTest::ask($node, 'CREATE TABLE t (i int); CREATE TABLE locked (i int)');

sub reconfigure
{
	my (@commands) = @_;
	LatencyTest::ask($node, $_) foreach @commands;
	$node->reload;
	return;
}

# A statement takes its time, and percentiles are never too low.
my $since = LatencyTest::next_interval($node);
$node->safe_psql('postgres', 'SELECT pg_sleep(0.1) FROM generate_series(1, 2)');
LatencyTest::next_interval($node);
is( LatencyTest::ask(
		$node, qq{
SELECT count, least(p50_seconds, p99_seconds, p999_seconds, max_seconds) >= 0.2
FROM sluice.statement_latency
WHERE interval_start >= '$since' AND class = 'read' AND count > 0}),
	'1|t',
	'a statement lasts as long as it sleeps');

# Let each command wait, in a session of its own, until it is released; all of
# them have then to be in buckets that reach the time that they have waited.
sub wait_is_counted
{
	my ($name, $class, $wait_event, $release, @commands) = @_;
	my @sessions;

	foreach my $command (@commands)
	{
		my $session = $node->background_psql('postgres');
		$session->query_until(qr/sent/, "\\echo sent\n$command\n");
		push @sessions, $session;
	}
	LatencyTest::wait_for($node,
		'SELECT count(*) = ' . @commands . " FROM pg_stat_activity WHERE wait_event = '$wait_event'");
	my $all_wait = LatencyTest::ask($node, 'SELECT clock_timestamp()');
	my $before_release = LatencyTest::next_interval($node);
	my $waited = LatencyTest::ask($node, "SELECT extract(epoch FROM clock_timestamp() - '$all_wait')");
	$release->();
	# Not by another query, which a slow machine could have wait for as long.
	$_->query_until(qr/done/, "\\echo done\n") foreach @sessions;
	$_->quit foreach @sessions;
	LatencyTest::next_interval($node);
	is( LatencyTest::ask(
			$node, qq{
SELECT sum(count) FROM sluice.statement_latency_buckets(clock_timestamp() - '$before_release')
WHERE class = '$class' AND upper_seconds > $waited}),
		scalar @commands,
		$name);
	return;
}

# The wait for a standby is part of the commit, which is part of the statement,
# however it was sent.
reconfigure("ALTER SYSTEM SET synchronous_standby_names = 'absent'");
LatencyTest::wait_for($node, q{SELECT setting = 'absent' FROM pg_settings WHERE name = 'synchronous_standby_names'});
wait_is_counted(
	'the wait of a commit is in the time of its statement',
	'write', 'SyncRep',
	sub { reconfigure('ALTER SYSTEM RESET synchronous_standby_names') },
	'INSERT INTO t VALUES (1);',
	'INSERT INTO t VALUES ($1) \bind 1 \g',
	'BEGIN; INSERT INTO t VALUES (1); COMMIT;',
	'INSERT INTO t VALUES (1)\; INSERT INTO t VALUES (2);',
	q{BEGIN; INSERT INTO t VALUES (1); PREPARE TRANSACTION 'a';});
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'a'});

# So is what comes before execution: here, parse analysis waits for a lock.
my $holder = $node->background_psql('postgres');
$holder->query_safe('BEGIN');
$holder->query_safe('LOCK TABLE locked');
wait_is_counted(
	'the wait of a parser is in the time of its statement',
	'read', 'relation',
	sub { $holder->query_safe('COMMIT') },
	'SELECT i FROM locked;',
	'SELECT i FROM locked WHERE i = $1 \bind 1 \g',
	'BEGIN; SELECT i FROM locked; COMMIT;',
	'SELECT 1\; SELECT i FROM locked;');
$holder->quit;

# In a pipeline each statement has its own time.
append_to_file($node->basedir . '/pipeline.sql',
	"\\startpipeline\nSELECT pg_sleep(0.2);\nSELECT 1;\nSELECT pg_sleep(0.2);\n\\endpipeline\n");
$since = LatencyTest::next_interval($node);
$node->command_ok(
	[ 'pgbench', '-n', '-t', 3, '-M', 'extended', '-f', $node->basedir . '/pipeline.sql', 'postgres' ],
	'pipelines of pgbench');
LatencyTest::next_interval($node);
is( LatencyTest::ask(
		$node, qq{
SELECT sum(count), sum(count * mean_seconds) >= 6 * 0.19, max(max_seconds) >= 0.2
FROM sluice.statement_latency WHERE interval_start >= '$since' AND class = 'read'}),
	'9|t|t',
	'the statements of a pipeline have their own time');

# In a block, a statement of the extended protocol is over when its rows are
# sent, though its portal stays open; a client's own time is not in it.
my $session = $node->background_psql('postgres');
$since = LatencyTest::next_interval($node);
$session->query_until(qr/executed/, "BEGIN;\nSELECT \$1 \\bind executed \\g\n");
LatencyTest::next_interval($node);
is(LatencyTest::counted_since($node, $since),
	'read 1 errors 0, write 0 errors 0', 'a statement in a block counts when it is executed');
$session->query_safe('COMMIT');
$session->quit;

# Sessions that are terminated, at work and idle in a transaction
LatencyTest::counts_are($node, 'terminated sessions', 'read 0 errors 1, write 1 errors 0',
	sub {
		my ($idle, $active) = map { $node->background_psql('postgres', on_error_die => 0) } 1 .. 2;

		$idle->query_safe('BEGIN');
		$idle->query_safe('INSERT INTO t VALUES (1)');
		$active->query_until(qr/sent/, "\\echo sent\nSELECT pg_sleep(3600);\n");
		LatencyTest::wait_for($node, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
		LatencyTest::ask($node, q{
SELECT pg_terminate_backend(pid, 180000) FROM pg_stat_activity
WHERE wait_event = 'PgSleep' OR state = 'idle in transaction'});
		$_->{run}->finish foreach ($idle, $active);
	});

# Switched off for a session, a transaction, a role, the server
LatencyTest::sql_counts_are($node, 'off in a session', 'read 3 errors 0, write 0 errors 0',
	'SELECT 1', 'SET sluice.statement_latency = off', 'SELECT 1', 'SELECT 1 / 0',
	'SET sluice.statement_latency = on', 'SELECT 1');
LatencyTest::sql_counts_are($node, 'off in a transaction', 'read 3 errors 0, write 0 errors 0',
	'BEGIN', 'SELECT 1', 'SET LOCAL sluice.statement_latency = off', 'INSERT INTO t VALUES (1)',
	'COMMIT', 'SELECT 1');
LatencyTest::sql_counts_are($node, 'on in the middle of a transaction', 'read 3 errors 0, write 2 errors 0',
	'SET sluice.statement_latency = off', 'BEGIN', 'SELECT 1',
	'SET sluice.statement_latency = on', 'INSERT INTO t VALUES (1)', 'SELECT 1', 'COMMIT', 'SELECT 1');
LatencyTest::ask($node, 'CREATE ROLE quiet SUPERUSER LOGIN; ALTER ROLE quiet SET sluice.statement_latency = off');
LatencyTest::counts_are($node, 'off for a role', 'read 0 errors 0, write 0 errors 0',
	sub { $node->safe_psql('postgres', 'SELECT 1', extra_params => [ '-U', 'quiet' ]) });
reconfigure('ALTER SYSTEM SET sluice.statement_latency = off');
LatencyTest::wait_for($node, q{SELECT setting = 'off' FROM pg_settings WHERE name = 'sluice.statement_latency'});
LatencyTest::sql_counts_are($node, 'off for the server', 'read 0 errors 0, write 0 errors 0',
	'SELECT 1', 'INSERT INTO t VALUES (1)', 'SELECT 1 / 0');
reconfigure('ALTER SYSTEM RESET sluice.statement_latency');

# Reading while others record, over interval boundaries
my ($script, $out) = map { $node->basedir . "/$_" } ('script.sql', 'pgbench.out');
append_to_file($script, "SELECT 1;\nINSERT INTO t VALUES (1);\nSELECT i FROM t LIMIT 1;\n");
LatencyTest::counts_are($node, 'readers do not disturb', 'read 8000 errors 0, write 4000 errors 0',
	sub {
		my $pgbench = IPC::Run::start(
			[ 'pgbench', '-n', '-c', 8, '-t', 500, '-M', 'prepared', '-f', $script, $node->connstr('postgres') ],
			'>&', $out);
		my $inconsistent = 0;

		# Its output goes to a file: pump_nb dies where a process ends after its pipes.
		while ($pgbench->pumpable)
		{
			$inconsistent += LatencyTest::ask($node, q{
SELECT count(*) FROM sluice.statement_latency
WHERE NOT (p50_seconds <= p99_seconds AND p99_seconds <= p999_seconds
    AND p999_seconds <= max_seconds AND mean_seconds <= max_seconds)});
		}
		$pgbench->finish or die 'pgbench failed: ' . slurp_file($out);
		is($inconsistent, 0, 'rows are consistent while statements are recorded');
	});

# What was recorded is gone after a restart.
$node->stop;
$node->append_conf('postgresql.conf', 'sluice.statement_latency_interval = 200ms');

# A wall clock that the test can set
my $clock_library = PostgreSQL::Test::Utils::tempdir() . '/clock_offset.so';
my $clock_file = PostgreSQL::Test::Utils::tempdir() . '/clock_offset';
IPC::Run::run([ 'cc', '-shared', '-fPIC', '-o', $clock_library, "$FindBin::RealBin/../test/clock_offset.c" ])
  or die 'cannot compile clock_offset';

sub set_clock
{
	my ($offset_seconds) = @_;
	# Overwritten in place, as processes have it mapped.
	open my $file, '+>>:raw', $clock_file or die "$clock_file: $!";
	truncate $file, 8;
	close $file;
	open $file, '+<:raw', $clock_file or die "$clock_file: $!";
	syswrite $file, pack('q<', $offset_seconds);
	close $file;
	return;
}

set_clock(0);
{
	local $ENV{LD_PRELOAD} = $clock_library;
	local $ENV{CLOCK_OFFSET_FILE} = $clock_file;
	$node->start;
}

my $total = q{SELECT coalesce(sum(count), 0) FROM sluice.statement_latency};
is(LatencyTest::ask($node, $total), 0, 'nothing is left after a restart');

# The ring turns twice, while one session, which always counts in the same
# place, makes errors at a known rate at most.  What is left in a slot from the
# turn before would be added to what an interval can hold.
my $interval_s = 0.2;
my $sleep_s = 0.02;
my $errors = int(2 * 64 * $interval_s / $sleep_s);
my ($stdout, $stderr);
IPC::Run::run(
	[ 'psql', '-XAtq', '-d', $node->connstr('postgres') ],
	'<', \("SELECT 1 / 0;\nSELECT pg_sleep($sleep_s);\n" x $errors),
	'>', \$stdout, '2>', \$stderr);
LatencyTest::next_interval($node);
my $most = int($interval_s / $sleep_s) + 1;
is( LatencyTest::ask(
		$node, "SELECT bool_or(errors > 0), bool_or(errors > $most), bool_or(count > $most) FROM sluice.statement_latency"),
	't|f|f',
	'slots of the ring are as good as new at each turn');

# The wall clock is set, back and forth: counting goes on at once, each time.
foreach my $offset_seconds (-3600, 7200, 0)
{
	set_clock($offset_seconds);
	# The first statement may show the step as its duration.
	$node->safe_psql('postgres', 'SELECT 1');
	LatencyTest::wait_for($node, "SELECT ($total) > 0");
	LatencyTest::sql_counts_are($node, "clock off by $offset_seconds s", 'read 2 errors 1, write 1 errors 0',
		'SELECT 1', 'INSERT INTO t VALUES (1)', 'SELECT 1 / 0', 'SELECT 1');
}

$node->stop;
done_testing();
