package dev.sluice.journal;

import dev.sluice.journal.JournalRecord.Checkpoint;
import dev.sluice.journal.JournalRecord.Gap;
import dev.sluice.journal.JournalRecord.Header;
import dev.sluice.journal.RecordDecoder.Decoded;
import dev.sluice.journal.RecordDecoder.MalformedException;
import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Reads one segment, record by record, as long as it was when it was opened. Total: damage, a torn
 * end and errors of the disk are results. Not thread-safe.
 */
final class SegmentReader implements Closeable {

  /** What a segment has next. */
  sealed interface Item {

    /**
     * A record.
     *
     * @param sequence its number in the journal; the one of the next record for a header, a
     *     checkpoint and a gap
     * @param offset the position of its frame in the file
     */
    record Entry(JournalRecord value, long sequence, long offset) implements Item {}

    /** A whole record that this version can't read, and why. */
    record Unreadable(String reason, long sequence, long offset) implements Item {}

    /**
     * Nothing more.
     *
     * @param offset the position after the last whole record
     * @param reason what is wrong; empty if nothing is
     */
    record End(Ending ending, long offset, String reason) implements Item {}
  }

  /** How a segment ends. */
  enum Ending {
    /** After a whole frame. */
    WHOLE,
    /** Within a frame, as after a crash. */
    TORN,
    /** With bytes that nobody wrote so. */
    DAMAGED
  }

  private static final int LONGEST_LENGTH = 5;

  private final RecordTypes types;
  private @Nullable InputStream input;
  private @Nullable RecordDecoder decoder;
  private Item.@Nullable End end;
  private long size;
  private long offset;
  private int chain;
  private int frames;
  private long sequence;
  private @Nullable Header header;

  /** A reader of this file. */
  SegmentReader(Path file, RecordTypes types) {
    this.types = types;
    try {
      size = Files.size(file);
      input = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
    } catch (IOException e) {
      end = new Item.End(Ending.DAMAGED, 0, "can't be read: " + e);
    }
  }

  /** The first record, once it was read. */
  @Nullable Header header() {
    return header;
  }

  /** Whether header and checkpoint were whole, so that the segment serves for something. */
  boolean isBegun() {
    return frames >= 2;
  }

  /** The number of the next record. */
  long sequence() {
    return sequence;
  }

  /** The checksum of the last record. */
  long chain() {
    return chain & 0xffffffffL;
  }

  /** What comes next; after an end, the end again. */
  Item next() {
    if (end != null) {
      return end;
    }
    InputStream stream = input;
    if (stream == null) {
      return ended(Ending.DAMAGED, "can't be read");
    }
    try {
      RecordDecoder known = decoder;
      if (known == null) {
        known = preamble(new DataInputStream(stream));
        decoder = known;
        if (known == null) {
          return end == null ? ended(Ending.DAMAGED, "no preamble") : end;
        }
      }
      return frame(stream, known);
    } catch (IOException e) {
      return ended(Ending.DAMAGED, "can't be read: " + e);
    } catch (MalformedException e) {
      return ended(Ending.DAMAGED, "no record: " + e.getMessage());
    }
  }

  private Item.End ended(Ending ending, String reason) {
    Item.End found = new Item.End(ending, offset, reason);
    end = found;
    return found;
  }

  private @Nullable RecordDecoder preamble(DataInputStream data) throws IOException {
    int present = (int) Math.min(size, SegmentWriter.PREAMBLE);
    byte[] bytes = data.readNBytes(present);
    if (bytes.length < SegmentWriter.PREAMBLE) {
      Item.End unused = ended(Ending.TORN, "ends within its preamble");
      return null;
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    byte[] magic = new byte[SegmentWriter.MAGIC.length];
    buffer.get(magic);
    int format = buffer.getShort() & 0xffff;
    long second = buffer.getLong();
    CRC32C checksum = new CRC32C();
    checksum.update(bytes, 0, buffer.position());
    chain = (int) checksum.getValue();
    if (isZero(bytes) && restIsZero(data)) {
      Item.End unused = ended(Ending.TORN, "ends in zeros");
    } else if (!Arrays.equals(magic, SegmentWriter.MAGIC)) {
      Item.End unused = ended(Ending.DAMAGED, "is no segment of a journal");
    } else if (buffer.getInt() != chain) {
      Item.End unused = ended(Ending.DAMAGED, "wrong checksum of the preamble");
    } else if (format < 1 || format > SegmentWriter.FORMAT) {
      Item.End unused =
          ended(
              Ending.DAMAGED, "has format " + format + "; known are 1 to " + SegmentWriter.FORMAT);
    } else {
      offset = SegmentWriter.PREAMBLE;
      return new RecordDecoder(types, second);
    }
    return null;
  }

  private Item frame(InputStream stream, RecordDecoder known)
      throws IOException, MalformedException {
    long left = size - offset;
    if (left == 0) {
      return frames < 2
          ? ended(Ending.TORN, "ends before its checkpoint")
          : ended(Ending.WHOLE, "");
    }
    byte[] head = new byte[LONGEST_LENGTH];
    int used = 0;
    long length = 0;
    while (true) {
      int next = used < left ? stream.read() : -1;
      if (next < 0) {
        return ended(Ending.TORN, "ends within a frame");
      }
      head[used] = (byte) next;
      length |= (long) (next & 0x7f) << 7 * used;
      used++;
      if (next < 0x80) {
        break;
      } else if (used == LONGEST_LENGTH) {
        return ended(Ending.DAMAGED, "wrong length of a frame");
      }
    }
    if (length == 0) {
      return restIsZero(stream)
          ? ended(Ending.TORN, "ends in zeros")
          : ended(Ending.DAMAGED, "wrong length of a frame");
    }
    long after = left - used;
    int check = after < 1 ? -1 : stream.read();
    if (check < 0) {
      return ended(Ending.TORN, "ends within a frame");
    } else if ((byte) check
        != (byte) SegmentWriter.checksum(chain, head, 0, used, new byte[0], 0)) {
      return ended(Ending.DAMAGED, "wrong length of a frame");
    }
    int fixed = 1 + Integer.BYTES;
    if (after < fixed + length) {
      return ended(Ending.TORN, "ends within a frame");
    }
    byte[] checksum = stream.readNBytes(Integer.BYTES);
    byte[] payload = stream.readNBytes((int) length);
    if (checksum.length < Integer.BYTES || payload.length < length) {
      return ended(Ending.TORN, "ends within a frame");
    }
    int sum = SegmentWriter.checksum(chain, head, 0, used, payload, payload.length);
    if (ByteBuffer.wrap(checksum).getInt() != sum) {
      boolean zeros = payload[payload.length - 1] == 0 && after > fixed + length;
      return zeros && restIsZero(stream)
          ? ended(Ending.TORN, "ends in zeros")
          : ended(Ending.DAMAGED, "wrong checksum");
    }
    Item item = item(known.decode(payload));
    chain = sum;
    frames++;
    offset += used + fixed + length;
    return item;
  }

  private Item item(Decoded decoded) throws MalformedException {
    JournalRecord value = decoded instanceof Decoded.Value(JournalRecord known) ? known : null;
    if (frames == 0) {
      if (!(value instanceof Header first) || first.firstSequence() < 0) {
        throw new MalformedException("a segment has to begin with a header");
      }
      header = first;
      sequence = first.firstSequence();
    } else if ((frames == 1) != (value instanceof Checkpoint) && value != null) {
      throw new MalformedException("a segment has one checkpoint, after its header");
    } else if (frames > 1 && value instanceof Header) {
      throw new MalformedException("a segment has one header");
    } else if (value instanceof Gap(long lost) && (lost <= 0 || sequence + lost < 0)) {
      throw new MalformedException("a gap of " + lost);
    }
    long number = sequence;
    switch (value) {
      case Header _, Checkpoint _ -> {}
      case Gap(long lost) -> sequence += lost;
      case null, default -> sequence += frames > 1 ? 1 : 0;
    }
    if (value != null) {
      return new Item.Entry(value, number, offset);
    }
    String reason =
        decoded instanceof Decoded.Unreadable(String why) ? why : "is no record of a journal";
    return new Item.Unreadable(reason, number, offset);
  }

  private static boolean isZero(byte[] bytes) {
    for (byte each : bytes) {
      if (each != 0) {
        return false;
      }
    }
    return true;
  }

  private static boolean restIsZero(InputStream stream) throws IOException {
    byte[] part = new byte[1 << 13];
    for (int read = stream.read(part); read >= 0; read = stream.read(part)) {
      if (!isZero(Arrays.copyOf(part, read))) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    InputStream stream = input;
    if (stream != null) {
      try {
        stream.close();
      } catch (IOException e) {
        Item.End unused = ended(Ending.DAMAGED, "can't be closed: " + e);
      }
    }
  }
}
