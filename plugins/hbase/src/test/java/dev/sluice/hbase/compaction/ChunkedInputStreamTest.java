package dev.sluice.hbase.compaction;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.PositionedReadable;
import org.junit.jupiter.api.Test;

class ChunkedInputStreamTest {
  private static final int CHUNK_BYTES = 100;

  private final RecordedFile file = new RecordedFile(1234);
  private final ChunkedInputStream stream = new ChunkedInputStream(file, CHUNK_BYTES);

  @Test
  void givesTheFileWhereverItIsRead() throws IOException {
    Random random = new Random(1);
    for (int round = 0; round < 10_000; round++) {
      int position = random.nextInt(file.bytes.length + 10);
      if (random.nextBoolean()) {
        stream.seek(position);
      }
      int from = (int) stream.getPos();
      byte[] wanted = new byte[random.nextInt(3 * CHUNK_BYTES)];
      int length = stream.readNBytes(wanted, 0, wanted.length);
      int start = Math.min(from, file.bytes.length);
      assertEquals(Math.min(wanted.length, file.bytes.length - start), length);
      assertEquals(from + length, stream.getPos());
      assertArrayEquals(
          Arrays.copyOfRange(file.bytes, start, start + length), Arrays.copyOf(wanted, length));
    }
  }

  @Test
  void asksForOneChunkAfterTheOther() throws IOException {
    stream.readNBytes(10);
    stream.readNBytes(80);
    stream.readNBytes(20);
    assertEquals(List.of(0L, 100L), file.requested);
  }

  @Test
  void keepsTheChunkWhenItStepsBack() throws IOException {
    stream.readNBytes(50);
    stream.seek(20);
    assertEquals(Byte.toUnsignedInt(file.bytes[20]), stream.read());
    assertEquals(List.of(0L), file.requested);
  }

  @Test
  void endsWhereTheFileEnds() throws IOException {
    stream.seek(file.bytes.length - 1);
    stream.read();
    assertEquals(-1, stream.read());
    assertEquals(-1, stream.read(ByteBuffer.allocate(1)));
    assertEquals(0, stream.read(ByteBuffer.allocate(0)));
  }

  @Test
  void afterAFailureItReadsAnew() throws IOException {
    stream.readNBytes(CHUNK_BYTES);
    file.failing = true;
    assertThrows(IOException.class, stream::read);
    file.failing = false;
    assertEquals(Byte.toUnsignedInt(file.bytes[CHUNK_BYTES]), stream.read());
  }

  @Test
  void thereIsNothingBeforeTheFirstByte() {
    assertThrows(EOFException.class, () -> stream.seek(-1));
  }

  /** A file that notes where it was read. */
  private static final class RecordedFile implements PositionedReadable {
    private final byte[] bytes;
    private final List<Long> requested = new ArrayList<>();
    private boolean failing;

    RecordedFile(int length) {
      bytes = new byte[length];
      new Random(0).nextBytes(bytes);
    }

    @Override
    public int read(long position, byte[] target, int offset, int length) throws IOException {
      if (failing) {
        throw new IOException("the disk is gone");
      }
      requested.add(position);
      int available = (int) Math.min(length, bytes.length - position);
      if (available <= 0) {
        return -1;
      }
      System.arraycopy(bytes, (int) position, target, offset, available);
      return available;
    }

    @Override
    public void readFully(long position, byte[] target, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void readFully(long position, byte[] target) {
      throw new UnsupportedOperationException();
    }
  }
}
