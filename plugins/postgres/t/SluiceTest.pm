# What the tests of the extension have in common.

package SluiceTest;

use strict;
use warnings FATAL => 'all';

use FindBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# What ends a test is said where its results are too, on one line and with the test's name: what
# `prove` prints of several tests is not in order.
$SIG{__DIE__} = sub {
	return if $^S;
	(my $why = "$_[0]") =~ s/\s*\n\s*/ /g;
	diag("$0: $why");
};

# A primary with the extension, that starts no checkpoint by itself.  Without
# fsync there would be no sync phase.
sub new_primary
{
	my ($name, %params) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(
		allows_streaming => 1,
		extra => ['--data-checksums'],
		%params);
	$node->append_conf(
		'postgresql.conf', q{
shared_preload_libraries = 'sluice'
shared_buffers = 64MB
checkpoint_timeout = 1h
max_wal_size = 2GB
bgwriter_lru_maxpages = 0
autovacuum = off
log_checkpoints = on
fsync = on
wal_keep_size = 1GB
});
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION sluice');
	$node->safe_psql('postgres', 'CREATE TABLE pages (i int, filler text)');
	$node->safe_psql('postgres', 'CHECKPOINT');
	return $node;
}

# Leave some 2500 dirty buffers.
sub dirty_buffers
{
	my ($node) = @_;
	$node->safe_psql('postgres',
		"INSERT INTO pages SELECT i, repeat('x', 1000) FROM generate_series(1, 20000) i");
	return;
}

# Wait until a condition holds on the progress row.
sub wait_progress
{
	my ($node, $condition) = @_;
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM sluice.checkpoint_progress WHERE $condition")
	  or die "timed out waiting for: $condition; progress is "
	  . $node->safe_psql('postgres', 'SELECT * FROM sluice.checkpoint_progress');
	return;
}

# Wait until a condition holds on the progress row, and return columns of that very row.
sub progress_when
{
	my ($node, $condition, $columns) = @_;
	my $query = "SELECT $columns FROM sluice.checkpoint_progress WHERE $condition";

	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		my $row = $node->safe_psql('postgres', $query);
		return $row if $row ne '';
		select(undef, undef, undef, 0.1);
	}
	die "timed out waiting for: $condition; progress is "
	  . $node->safe_psql('postgres', 'SELECT * FROM sluice.checkpoint_progress');
}

# Hold, wait until it is in force, and return the id of the lease.
sub hold
{
	my ($node, $time_to_live) = @_;
	my $lease = $node->safe_psql('postgres',
		"SELECT sluice.set_checkpoint_pace('hold', 'test', '$time_to_live', replace => true)");
	wait_progress($node, "state = 'held'");
	return $lease;
}

# Start a checkpoint and hold it in its write phase, for longer than the test.
sub start_held
{
	my ($node) = @_;
	dirty_buffers($node);
	$node->safe_psql('postgres',
		"SELECT sluice.start_checkpoint('test', '10 min', rate_bytes_per_second => 100000)");
	wait_progress($node, "phase = 'write' AND buffers_done > 0");
	hold($node, '10 min');
	return;
}

# Compile and run one of the C tests, which print TAP.
sub run_c_test
{
	my ($name) = @_;
	my $source = "$FindBin::RealBin/../test";
	my $program = PostgreSQL::Test::Utils::tempdir() . "/$name";
	(my $unit = $name) =~ s/_test$//;
	my @units = -e "$source/../$unit.c" ? ("$source/../$unit.c") : ();

	IPC::Run::run([ 'cc', '-o', $program, "$source/$name.c", @units, '-lm' ])
	  or die "cannot compile $name";
	my ($stdout, $stderr);
	my $success = IPC::Run::run([$program], '>', \$stdout, '2>', \$stderr);
	note($stdout);
	my $passed = () = $stdout =~ /^ok/mg;
	ok($success && $passed > 0, "$name: $passed checks");
	return;
}

1;
