package dev.sluice.ledger;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.ledger.AttemptObservation.Amount;
import dev.sluice.ledger.AttemptObservation.Ending;
import dev.sluice.ledger.AttemptObservation.Holder;
import dev.sluice.ledger.AttemptObservation.Outcome;
import dev.sluice.ledger.AttemptObservation.Reservation;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What was observed and isn't in the database yet, in a file: it outlives the process that wrote
 * it, and takes no memory while the database is away. A file belongs to one process; files that
 * dead processes left are taken over. Whoever reads an observation twice has to cope with it.
 * Thread-safe.
 */
final class ObservationBuffer implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ObservationBuffer.class);
  private static final String PREFIX = "ledger-";
  private static final String SUFFIX = ".buffer";

  /** How much is read at a time. */
  static final int READ_BYTES = 1 << 20;

  private final Path directory;
  private final Path file;
  private final long maxBytes;

  /** Guards the fields below, and the end of the file. */
  private final ReentrantLock lock = new ReentrantLock();

  private FileChannel channel;
  private FileLock fileLock;
  private long written;
  private long taken;
  private long read;

  /** Whether a dead process left a file that couldn't be taken over yet. */
  private boolean anyLeft;

  /**
   * Opens the buffer of a process.
   *
   * @param process a name that no other process has at the same time
   * @param maxBytes the size at which nothing more is taken
   * @throws IOException if the directory can't be used
   */
  ObservationBuffer(Path directory, String process, long maxBytes) throws IOException {
    this.directory = directory;
    this.maxBytes = maxBytes;
    Files.createDirectories(
        directory,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    file = directory.resolve(PREFIX + process.replaceAll("[^A-Za-z0-9.-]", "_") + SUFFIX);
    channel =
        FileChannel.open(
            file,
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Optional<FileLock> locked = lock(channel);
    if (locked.isEmpty()) {
      channel.close();
      throw new IOException(file + " is written by another process");
    }
    fileLock = locked.get();
    try {
      written = withoutTornLine(channel);
      takeOver();
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  private static Optional<FileLock> lock(FileChannel channel) throws IOException {
    try {
      return Optional.ofNullable(channel.tryLock());
    } catch (OverlappingFileLockException ofThisProcess) {
      return Optional.empty();
    }
  }

  /** Cuts a last line off that is torn; returns the size. */
  private static long withoutTornLine(FileChannel lines) throws IOException {
    long end = endOfLastLine(lines);
    lines.truncate(end);
    return end;
  }

  private static long endOfLastLine(FileChannel lines) throws IOException {
    long end = lines.size();
    while (end > 0) {
      long from = Math.max(0, end - READ_BYTES);
      ByteBuffer bytes = read(lines, from, end);
      for (int i = bytes.position() - 1; i >= 0; i--) {
        if (bytes.get(i) == '\n') {
          return from + i + 1;
        }
      }
      end = from;
    }
    return 0;
  }

  /**
   * Takes over what dead processes left. What can't be taken, because the disk is full, stays where
   * it is until everything else was taken.
   */
  private void takeOver() throws IOException {
    boolean again = anyLeft;
    anyLeft = false;
    try (DirectoryStream<Path> others =
        Files.newDirectoryStream(directory, PREFIX + "*" + SUFFIX)) {
      for (Path other : others) {
        if (!other.equals(file)) {
          takeOver(other, again);
        }
      }
    }
  }

  private void takeOver(Path other, boolean again) throws IOException {
    long before = written;
    try {
      takeOver(other);
    } catch (IOException e) {
      anyLeft = true;
      channel.truncate(before);
      written = before;
      if (!again) {
        LOG.warn("ledger file={} takenOver=false reason=\"{}\"", other.getFileName(), e.toString());
      }
    }
  }

  private void takeOver(Path other) throws IOException {
    FileChannel left = FileChannel.open(other, StandardOpenOption.READ, StandardOpenOption.WRITE);
    try {
      Optional<FileLock> locked = lock(left);
      if (locked.isPresent() && written == 0) {
        // This takes no room on the disk, which may be full.
        written = withoutTornLine(left);
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
        channel.close();
        channel = left;
        fileLock = locked.get();
      } else if (locked.isPresent()) {
        written = copy(left, 0, endOfLastLine(left), written);
        channel.force(false);
        Files.delete(other);
      }
    } finally {
      if (channel != left) {
        left.close();
      }
    }
  }

  /** What is between two positions, up to the position of the buffer. */
  private static ByteBuffer read(FileChannel lines, long from, long until) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate((int) (until - from));
    while (bytes.hasRemaining() && lines.read(bytes, from + bytes.position()) > 0) {
      // reads on
    }
    return bytes;
  }

  /** Copies what is between two positions to this file; returns the end of the copy. */
  private long copy(FileChannel lines, long from, long until, long to) throws IOException {
    long end = to;
    for (long at = from; at < until; at += READ_BYTES) {
      end = write(read(lines, at, Math.min(until, at + READ_BYTES)).flip(), end);
    }
    return end;
  }

  private long write(ByteBuffer bytes, long to) throws IOException {
    long end = to;
    while (bytes.hasRemaining()) {
      end += channel.write(bytes, end);
    }
    return end;
  }

  /**
   * Appends an observation; it is not synced to the disk.
   *
   * @return whether there was room
   * @throws IOException if it can't be written
   */
  boolean append(AttemptObservation observation) throws IOException {
    byte[] line = ObservationCodec.encode(observation);
    lock.lock();
    try {
      if (written - taken + line.length > maxBytes) {
        return false;
      }
      written = write(ByteBuffer.wrap(line), written);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * The next observations, some thousand at most; the same ones until they are {@link #taken}.
   * Called by one thread.
   *
   * @throws IOException if they can't be read
   */
  List<AttemptObservation> next() throws IOException {
    long from;
    long until;
    lock.lock();
    try {
      from = taken;
      until = Math.min(written, taken + READ_BYTES);
    } finally {
      lock.unlock();
    }
    ByteBuffer bytes = read(channel, from, until);
    byte[] content = bytes.array();
    List<AttemptObservation> observations = new ArrayList<>();
    int begin = 0;
    for (int i = 0; i < bytes.position(); i++) {
      if (content[i] == '\n') {
        if (i > begin) {
          ObservationCodec.decode(content, begin, i - begin).ifPresent(observations::add);
        }
        begin = i + 1;
      }
    }
    // a line of more than can be read at once is none of ours
    read = begin == 0 && until - from == READ_BYTES ? until : from + begin;
    return observations;
  }

  /**
   * What {@link #next} returned last isn't needed any more.
   *
   * @return whether everything has been taken
   */
  boolean taken() throws IOException {
    lock.lock();
    try {
      taken = read;
      if (taken < written) {
        if (taken >= READ_BYTES && taken >= written - taken) {
          dropTaken();
        }
        return false;
      }
      if (written > 0) {
        truncate(0);
      }
      if (anyLeft) {
        takeOver();
      }
      return written == 0;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Moves what waits to the begin of the file, in place of what was taken, which is as long at
   * least: whatever ends the process, each observation is in the file once or twice.
   */
  private void dropTaken() throws IOException {
    truncate(copy(channel, taken, written, 0));
  }

  private void truncate(long size) throws IOException {
    channel.truncate(size);
    written = size;
    taken = 0;
    read = 0;
  }

  /** The bytes that wait. */
  long waitingBytes() {
    lock.lock();
    try {
      return written - taken;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() throws IOException {
    lock.lock();
    try (FileChannel open = channel) {
      fileLock.release();
      if (written == taken) {
        Files.deleteIfExists(file);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Observations as lines of JSON. */
  static final class ObservationCodec {

    private static final Pattern PACE = Pattern.compile("[0-9]{1,10}(\\.[0-9]{1,10})?");

    /** How many bytes most lines have at most. */
    private static final int LINE = 600;

    private ObservationCodec() {}

    /** The line of an observation, with its line feed. */
    static byte[] encode(AttemptObservation observation) throws IOException {
      ByteArrayBuilder line = new ByteArrayBuilder(LINE);
      try (JsonGenerator json = JsonMappers.JSON.getFactory().createGenerator(line)) {
        json.writeStartObject();
        json.writeStringField("workload", observation.workload());
        json.writeNumberField("version", observation.version());
        json.writeNumberField("observedAt", observation.observedAt().toEpochMilli());
        if (observation.reservation().isPresent()) {
          json.writeObjectFieldStart("reservation");
          reservation(json, observation.reservation().get());
          json.writeEndObject();
        }
        if (observation.ending().isPresent()) {
          Ending end = observation.ending().get();
          json.writeObjectFieldStart("ending");
          json.writeNumberField("at", end.at().toEpochMilli());
          json.writeStringField("outcome", end.outcome().text());
          json.writeStringField("reason", end.reason());
          json.writeEndObject();
        }
        json.writeEndObject();
      }
      line.append('\n');
      return line.toByteArray();
    }

    private static void reservation(JsonGenerator json, Reservation reservation)
        throws IOException {
      Holder holder = reservation.holder();
      json.writeStringField("namespace", holder.namespace());
      json.writeStringField("workload", holder.workload());
      json.writeStringField("localQueue", holder.localQueue());
      json.writeStringField("clusterQueue", holder.clusterQueue());
      json.writeStringField("cohortPath", holder.cohortPath());
      json.writeStringField("ownerKind", holder.ownerKind());
      json.writeStringField("ownerName", holder.ownerName());
      json.writeObjectFieldStart("labels");
      for (Map.Entry<String, String> label : holder.labels().entrySet()) {
        json.writeStringField(label.getKey(), label.getValue());
      }
      json.writeEndObject();
      json.writeNumberField("reservedAt", reservation.reservedAt().toEpochMilli());
      json.writeBooleanField("wasReady", reservation.wasReady());
      time(json, "readyAt", reservation.readyAt());
      time(json, "checkpointedAt", reservation.checkpointedAt());
      json.writeArrayFieldStart("amounts");
      for (Amount amount : reservation.amounts()) {
        json.writeStartObject();
        json.writeStringField("flavor", amount.flavor());
        json.writeStringField("resource", amount.resource());
        json.writeNumberField("amount", amount.amount());
        if (amount.baseline().isPresent()) {
          json.writeStringField("baseline", amount.baseline().get().flavor());
          json.writeStringField("pace", amount.baseline().get().pace().toPlainString());
        }
        json.writeEndObject();
      }
      json.writeEndArray();
    }

    private static void time(JsonGenerator json, String name, Optional<Instant> time)
        throws IOException {
      if (time.isPresent()) {
        json.writeNumberField(name, time.get().toEpochMilli());
      }
    }

    /** The observation of a line; empty if it is none, such as one that was torn by a crash. */
    static Optional<AttemptObservation> decode(byte[] bytes, int offset, int length) {
      JsonNode line;
      try {
        line = JsonMappers.JSON.readTree(bytes, offset, length);
      } catch (IOException torn) {
        return Optional.empty();
      }
      if (!line.path("workload").isTextual() || !line.path("version").isIntegralNumber()) {
        return Optional.empty();
      }
      return Optional.of(
          new AttemptObservation(
              line.path("workload").asText(),
              line.path("version").asLong(),
              time(line.path("observedAt")),
              Optional.of(line.path("reservation"))
                  .filter(JsonNode::isObject)
                  .map(ObservationCodec::reservation),
              Optional.of(line.path("ending"))
                  .filter(JsonNode::isObject)
                  .map(
                      end ->
                          new Ending(
                              time(end.path("at")),
                              Outcome.of(end.path("outcome").asText()),
                              end.path("reason").asText()))));
    }

    private static Reservation reservation(JsonNode node) {
      Map<String, String> labels = new HashMap<>();
      node.path("labels")
          .properties()
          .forEach(label -> labels.put(label.getKey(), label.getValue().asText()));
      List<Amount> amounts = new ArrayList<>();
      for (JsonNode amount : node.path("amounts")) {
        amounts.add(
            new Amount(
                amount.path("flavor").asText(),
                amount.path("resource").asText(),
                amount.path("amount").asLong(),
                baseline(amount)));
      }
      return new Reservation(
          new Holder(
              node.path("namespace").asText(),
              node.path("workload").asText(),
              node.path("localQueue").asText(),
              node.path("clusterQueue").asText(),
              node.path("cohortPath").asText(),
              node.path("ownerKind").asText(),
              node.path("ownerName").asText(),
              labels),
          time(node.path("reservedAt")),
          optional(node.path("readyAt")),
          node.path("wasReady").asBoolean(),
          optional(node.path("checkpointedAt")),
          amounts);
    }

    private static Optional<Baseline> baseline(JsonNode amount) {
      String pace = amount.path("pace").asText();
      return amount.path("baseline").isTextual() && PACE.matcher(pace).matches()
          ? Optional.of(new Baseline(amount.path("baseline").asText(), new BigDecimal(pace)))
          : Optional.empty();
    }

    private static Optional<Instant> optional(JsonNode millis) {
      return millis.isIntegralNumber() ? Optional.of(time(millis)) : Optional.empty();
    }

    private static Instant time(JsonNode millis) {
      return Instant.ofEpochMilli(millis.asLong());
    }
  }
}
