package dev.sluice.journal;

import dev.sluice.journal.JournalDirectory.SegmentFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * Writes one segment (docs/journal.md#segments): a preamble, then a frame for each record. A frame
 * is the length of its payload, a check of the length, a checksum, and the payload. The checksum
 * covers the checksum before it, the length and the payload, so that frames hold in their order
 * only. Not thread-safe.
 */
final class SegmentWriter {

  static final byte[] MAGIC = "SLUICEJ\n".getBytes(StandardCharsets.US_ASCII);

  /** The version of the format; a reader of a version reads all lower ones. */
  static final int FORMAT = 1;

  /** Magic, format version, second from which times are counted, checksum of these. */
  static final int PREAMBLE = MAGIC.length + Short.BYTES + Long.BYTES + Integer.BYTES;

  private static final int LONGEST_HEAD = 10;
  private static final int FULL = 1 << 18;

  private final SegmentFile file;
  private final RecordEncoder encoder;
  private ByteBuffer unwritten = ByteBuffer.allocate(2 * FULL);
  private int chain;
  private long size;
  private long whole;
  private int wholeChain;

  private SegmentWriter(SegmentFile file, RecordTypes types, long second) {
    this.file = file;
    encoder = new RecordEncoder(types, second);
    unwritten.put(MAGIC).putShort((short) FORMAT).putLong(second);
    CRC32C checksum = new CRC32C();
    checksum.update(unwritten.array(), 0, unwritten.position());
    chain = (int) checksum.getValue();
    unwritten.putInt(chain);
    size = unwritten.position();
  }

  /**
   * Begins a segment. It isn't one before it was flushed.
   *
   * @throws IllegalArgumentException when the checkpoint can't be encoded
   */
  static SegmentWriter begin(
      SegmentFile file,
      RecordTypes types,
      JournalRecord.Header header,
      JournalRecord.Checkpoint checkpoint) {
    SegmentWriter writer =
        new SegmentWriter(file, types, header.session().startedAt().getEpochSecond());
    writer.append(header);
    writer.append(checkpoint);
    return writer;
  }

  /**
   * Appends a record, in memory.
   *
   * @throws IllegalArgumentException when the record holds what can't be encoded; the segment can't
   *     be written on then
   */
  void append(JournalRecord value) {
    byte[] payload = encoder.encode((Record) value);
    int needed = payload.length + LONGEST_HEAD;
    if (unwritten.remaining() < needed) {
      int capacity = Math.max(unwritten.position() + needed, 2 * unwritten.capacity());
      unwritten = ByteBuffer.allocate(capacity).put(unwritten.flip());
    }
    int start = unwritten.position();
    int rest = payload.length;
    while (rest >= 0x80) {
      unwritten.put((byte) (rest | 0x80));
      rest >>>= 7;
    }
    unwritten.put((byte) rest);
    byte[] array = unwritten.array();
    int head = unwritten.position() - start;
    unwritten.put((byte) checksum(chain, array, start, head, payload, 0));
    chain = checksum(chain, array, start, head, payload, payload.length);
    unwritten.putInt(chain).put(payload);
    size += unwritten.position() - start;
  }

  /** The checksum of a frame after another one; of its length only, without payload. */
  static int checksum(int before, byte[] head, int from, int length, byte[] payload, int payloads) {
    CRC32C checksum = new CRC32C();
    for (int shift = 24; shift >= 0; shift -= 8) {
      checksum.update(before >>> shift);
    }
    checksum.update(head, from, length);
    checksum.update(payload, 0, payloads);
    return (int) checksum.getValue();
  }

  /** Hands over to the file what was appended. */
  void flush() throws IOException {
    unwritten.flip();
    while (unwritten.hasRemaining()) {
      file.write(unwritten);
    }
    if (unwritten.capacity() > 2 * FULL) {
      unwritten = ByteBuffer.allocate(2 * FULL);
    } else {
      unwritten.clear();
    }
    whole = size;
    wholeChain = chain;
  }

  /** Returns when what was handed over is on the disk. */
  void sync() throws IOException {
    file.sync();
  }

  /** Whether so much was appended that it should be handed over. */
  boolean isFull() {
    return unwritten.position() >= FULL;
  }

  /** The bytes of the segment, with those that are not handed over yet. */
  long size() {
    return size;
  }

  /** Whether nothing was handed over yet. */
  boolean isEmpty() {
    return whole == 0;
  }

  /** The checksum of the last record that was handed over. */
  long chain() {
    return wholeChain & 0xffffffffL;
  }

  /** Closes the file after a failure, cut after the last frame that was handed over whole. */
  void abandon() {
    try (file) {
      file.truncate(whole);
    } catch (IOException e) {
      // The reader finds the torn frame, too.
      whole = size;
    }
  }

  /** Closes the file. */
  void close() throws IOException {
    file.close();
  }
}
