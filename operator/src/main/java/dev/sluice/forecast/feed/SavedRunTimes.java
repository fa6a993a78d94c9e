package dev.sluice.forecast.feed;

import dev.sluice.forecast.feed.RunTimeRecorder.CountedRuns;
import dev.sluice.forecast.runtimes.FinishedRun;
import dev.sluice.forecast.runtimes.FinishedRun.End;
import dev.sluice.forecast.runtimes.RunTimeGroup;
import dev.sluice.forecast.runtimes.RunTimeGroup.Level;
import dev.sluice.forecast.runtimes.RunTimeHistory.SavedGroup;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/**
 * What is remembered of runs, as it survives a restart: to the second, compressed.
 *
 * @param counted which runs were counted
 * @param groups the groups, from the one that would be forgotten first
 */
record SavedRunTimes(CountedRuns.Saved counted, List<SavedGroup> groups) {

  private static final int VERSION = 1;

  /** The most bytes that are decompressed. */
  private static final int MOST_BYTES = 32 << 20;

  /** No run lasts for longer, and none ends more seconds after 1970. */
  private static final long MOST_SECONDS = 100_000_000_000L;

  private static final int ENDS = End.values().length;

  SavedRunTimes {
    groups = List.copyOf(groups);
  }

  /**
   * The bytes, without the groups that come first if they would be too many.
   *
   * @param most the most bytes; more than the runs that are counted one by one need
   */
  byte[] encode(int most) {
    int kept = groups.size();
    byte[] bytes = encodeNewest(kept);
    while (bytes.length > most && kept > 0) {
      kept = (int) Math.min(kept - 1L, (long) kept * most / bytes.length);
      bytes = encodeNewest(kept);
    }
    return bytes;
  }

  private byte[] encodeNewest(int kept) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(new GZIPOutputStream(bytes))) {
      out.writeInt(VERSION);
      out.writeLong(counted.until().toEpochMilli());
      out.writeInt(counted.later().size());
      for (Map.Entry<Long, Instant> each : counted.later().entrySet()) {
        out.writeLong(each.getKey());
        out.writeLong(each.getValue().getEpochSecond());
      }
      List<SavedGroup> newest = groups.subList(groups.size() - kept, groups.size());
      out.writeInt(kept);
      for (SavedGroup each : newest) {
        write(each, out);
      }
    } catch (IOException e) {
      throw new IllegalStateException("memory can be written", e);
    }
    return bytes.toByteArray();
  }

  private static void write(SavedGroup group, DataOutputStream out) throws IOException {
    out.writeByte(group.group().level().ordinal());
    out.writeUTF(group.group().key());
    out.writeShort(group.runs().size());
    long before = 0;
    for (FinishedRun run : group.runs()) {
      long endedAt = run.endedAt().getEpochSecond();
      writeNumber(zigZag(endedAt - before), out);
      writeNumber(seconds(run.lasted()) * ENDS + run.end().ordinal(), out);
      before = endedAt;
    }
  }

  private static long seconds(Duration lasted) {
    return Math.min(lasted.plusMillis(500).toSeconds(), MOST_SECONDS);
  }

  private static long zigZag(long number) {
    return (number << 1) ^ (number >> 63);
  }

  /** Seven bits a byte, the lowest first. */
  private static void writeNumber(long number, DataOutputStream out) throws IOException {
    long rest = number;
    while ((rest & ~0x7fL) != 0) {
      out.writeByte((int) (rest & 0x7f | 0x80));
      rest >>>= 7;
    }
    out.writeByte((int) rest);
  }

  /**
   * Reads what {@link #encode} wrote.
   *
   * @throws IOException if the bytes are anything else, or those of a later version; the message
   *     says which
   */
  static SavedRunTimes decode(byte[] bytes) throws IOException {
    byte[] plain;
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
      plain = in.readNBytes(MOST_BYTES + 1);
    }
    if (plain.length > MOST_BYTES) {
      throw new IOException("more than " + MOST_BYTES + " bytes");
    }
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(plain));
    int version = in.readInt();
    if (version != VERSION) {
      throw new IOException("version " + version + " is not known");
    }
    Instant until = Instant.ofEpochMilli(in(in.readLong(), MOST_SECONDS * 1000, "time"));
    Map<Long, Instant> later = new HashMap<>();
    for (long left = in(in.readInt(), CountedRuns.MOST, "number of runs"); left > 0; left--) {
      later.put(in.readLong(), Instant.ofEpochSecond(in(in.readLong(), MOST_SECONDS, "time")));
    }
    List<SavedGroup> groups = new ArrayList<>();
    for (long left = in(in.readInt(), MOST_BYTES, "number of groups"); left > 0; left--) {
      groups.add(group(in));
    }
    return new SavedRunTimes(new CountedRuns.Saved(until, later), groups);
  }

  private static SavedGroup group(DataInputStream in) throws IOException {
    Level level = Level.values()[(int) in(in.readByte(), Level.values().length - 1L, "level")];
    String key = in.readUTF();
    List<FinishedRun> runs = new ArrayList<>();
    long endedAt = 0;
    for (long left = in(in.readShort(), Short.MAX_VALUE, "number of runs"); left > 0; left--) {
      long step = readNumber(in);
      endedAt = in(endedAt + ((step >>> 1) ^ -(step & 1)), MOST_SECONDS, "time");
      long lasted = in(readNumber(in), MOST_SECONDS * ENDS + ENDS - 1, "duration");
      runs.add(
          new FinishedRun(
              Instant.ofEpochSecond(endedAt),
              Duration.ofSeconds(lasted / ENDS),
              End.values()[(int) (lasted % ENDS)]));
    }
    return new SavedGroup(new RunTimeGroup(level, key), runs);
  }

  private static long readNumber(DataInputStream in) throws IOException {
    long number = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      int next = in.readUnsignedByte();
      number |= (next & 0x7fL) << shift;
      if (next < 0x80) {
        return number;
      }
    }
    throw new IOException("a number doesn't end");
  }

  private static long in(long number, long most, String what) throws IOException {
    if (number < 0 || number > most) {
      throw new IOException("the " + what + " " + number + " is out of range");
    }
    return number;
  }
}
