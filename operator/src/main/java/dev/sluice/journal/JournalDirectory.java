package dev.sluice.journal;

import dev.sluice.journal.SegmentReader.Ending;
import dev.sluice.journal.SegmentReader.Item;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a journal: a directory for each session, with its segments in the order of their
 * names, and a file that is locked while the session is written. Names sort by time.
 */
final class JournalDirectory {

  private static final Logger LOG = LoggerFactory.getLogger(JournalDirectory.class);
  private static final String SUFFIX = ".segment";
  private static final String LOCK = "lock";
  private static final int LONGEST_IDENTITY = 100;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

  private static final FileAttribute<?> PRIVATE_FILE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final FileAttribute<?> PRIVATE_DIRECTORY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** A file that a segment is written to. */
  interface SegmentFile extends Closeable {

    /** Writes some of the bytes, or all. */
    void write(ByteBuffer bytes) throws IOException;

    /** Returns when everything that was written is on the disk. */
    void sync() throws IOException;

    /** Cuts the file. */
    void truncate(long size) throws IOException;
  }

  /** Makes the files that segments are written to. */
  @FunctionalInterface
  interface Storage {

    /** A new file that only this user can read. */
    SegmentFile create(Path file) throws IOException;
  }

  /** The disk. */
  static SegmentFile createFile(Path file) throws IOException {
    FileChannel channel =
        FileChannel.open(
            file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), PRIVATE_FILE);
    return new SegmentFile() {
      @Override
      public void write(ByteBuffer bytes) throws IOException {
        int unused = channel.write(bytes);
      }

      @Override
      public void sync() throws IOException {
        channel.force(false);
      }

      @Override
      public void truncate(long size) throws IOException {
        FileChannel unused = channel.truncate(size);
      }

      @Override
      public void close() throws IOException {
        channel.close();
      }
    };
  }

  /** A session that this process writes; no other process does until it is closed. */
  static final class OpenSession implements Closeable {
    private final Path directory;
    private final FileChannel channel;
    private final long firstSequence;
    private final long previous;

    private OpenSession(Path directory, FileChannel channel, long firstSequence, long previous) {
      this.directory = directory;
      this.channel = channel;
      this.firstSequence = firstSequence;
      this.previous = previous;
    }

    /** The number of the first record of the session. */
    long firstSequence() {
      return firstSequence;
    }

    /** The checksum at the end of the session before; 0 if there is none. */
    long previous() {
      return previous;
    }

    /** The file of the nth segment, which begins with this number. */
    Path segment(int nth, long sequence) {
      return directory.resolve(String.format(Locale.ROOT, "%08d-%016x%s", nth, sequence, SUFFIX));
    }

    /** Whether the directory of the session is still there. */
    boolean exists() {
      return Files.isRegularFile(directory.resolve(LOCK));
    }

    /** Ends the session. */
    @Override
    public void close() throws IOException {
      try (channel) {
        boolean unused = Files.deleteIfExists(directory.resolve(LOCK));
      }
    }
  }

  private final Path root;
  private final RecordTypes types;

  /** The journal in this directory, which need not exist. */
  JournalDirectory(Path root, RecordTypes types) {
    this.root = root;
    this.types = types;
  }

  /** The directories of all sessions, by time; empty if there is no journal. */
  List<Path> sessions() throws IOException {
    return Files.isDirectory(root) ? sorted(root, true) : List.of();
  }

  /** The segments of a session, by time. */
  List<Path> segments(Path session) throws IOException {
    return sorted(session, false);
  }

  private static List<Path> sorted(Path directory, boolean directories) throws IOException {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path each : entries) {
        boolean wanted =
            directories
                ? Files.isDirectory(each)
                : each.getFileName().toString().endsWith(SUFFIX) && Files.isRegularFile(each);
        if (wanted) {
          files.add(each);
        }
      }
    } catch (NotDirectoryException e) {
      return List.of();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    files.sort(null);
    return files;
  }

  /** Whether a process writes the session now. */
  boolean isWritten(Path session) {
    Path file = session.resolve(LOCK);
    if (!Files.isRegularFile(file)) {
      return false;
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      return lock(channel) == null;
    } catch (IOException e) {
      return false;
    }
  }

  private static @Nullable FileLock lock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      return null;
    }
  }

  /**
   * Begins a session, after what crashed processes left was put right. Its records are numbered on
   * from those of the session before.
   *
   * @throws IOException when the directory can't be written
   */
  OpenSession open(Instant startedAt, String identity) throws IOException {
    Path made = Files.createDirectories(root);
    LOG.debug("journal directory={}", made);
    List<Path> sessions = sessions();
    for (Path each : sessions) {
      recover(each);
    }
    long sequence = 0;
    long previous = 0;
    for (Path each : sessions.reversed()) {
      List<Path> segments = isWritten(each) ? List.of() : segments(each);
      if (!segments.isEmpty()) {
        try (SegmentReader reader = new SegmentReader(segments.getLast(), types)) {
          Item.End end = drain(reader);
          if (reader.isBegun()) {
            LOG.debug("journal session={} ending={}", each, end.ending());
            sequence = reader.sequence();
            previous = reader.chain();
            break;
          }
        }
      }
    }
    String safe = identity.replaceAll("[^A-Za-z0-9.-]", "-");
    String name =
        TIME.format(startedAt) + "_" + safe.substring(0, Math.min(safe.length(), LONGEST_IDENTITY));
    Path session = Files.createDirectory(root.resolve(name), PRIVATE_DIRECTORY);
    FileChannel channel =
        FileChannel.open(
            session.resolve(LOCK),
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PRIVATE_FILE);
    if (lock(channel) == null) {
      channel.close();
      throw new IOException(session + " is written by another process");
    }
    return new OpenSession(session, channel, sequence, previous);
  }

  private static Item.End drain(SegmentReader reader) {
    Item item = reader.next();
    while (!(item instanceof Item.End)) {
      item = reader.next();
    }
    return (Item.End) item;
  }

  /** Cuts the torn end of a session that nobody writes any more. */
  private void recover(Path session) throws IOException {
    Path file = session.resolve(LOCK);
    if (!Files.isRegularFile(file)) {
      return;
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      if (lock(channel) == null) {
        return;
      }
      List<Path> segments = segments(session);
      if (!segments.isEmpty()) {
        truncate(segments.getLast());
      }
      boolean unused = Files.deleteIfExists(file);
    }
  }

  private void truncate(Path segment) throws IOException {
    Item.End end;
    boolean begun;
    try (SegmentReader reader = new SegmentReader(segment, types)) {
      end = drain(reader);
      begun = reader.isBegun();
    }
    switch (end.ending()) {
      case WHOLE -> {}
      case DAMAGED ->
          LOG.warn(
              "journal segment={} offset={} reason=\"{}\"", segment, end.offset(), end.reason());
      case TORN -> {
        LOG.info(
            "journal segment={} truncated={} reason=\"{}\"", segment, end.offset(), end.reason());
        if (begun) {
          try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.WRITE)) {
            FileChannel unused = channel.truncate(end.offset());
            channel.force(false);
          }
        } else {
          boolean unused = Files.deleteIfExists(segment);
        }
      }
    }
  }

  /**
   * Deletes the oldest segments that are too old or too many. The segment that is being written,
   * and sessions that other processes write, stay.
   *
   * @param current the segment that is being written
   */
  void retain(Path current, long maxBytes, Duration maxAge, Instant now) throws IOException {
    List<Path> candidates = new ArrayList<>();
    long bytes = 0;
    for (Path session : sessions()) {
      boolean own = session.equals(current.getParent());
      boolean foreign = !own && isWritten(session);
      List<Path> segments = segments(session);
      for (Path segment : segments) {
        bytes += Files.size(segment);
        if (!foreign && !segment.equals(current)) {
          candidates.add(segment);
        }
      }
      if (!own && !foreign && segments.isEmpty()) {
        deleteEmpty(session);
      }
    }
    for (Path segment : candidates) {
      long size = Files.size(segment);
      boolean old = Files.getLastModifiedTime(segment).toInstant().plus(maxAge).compareTo(now) < 0;
      if (!old && bytes <= maxBytes) {
        continue;
      }
      Files.delete(segment);
      bytes -= size;
      Path session = segment.getParent();
      if (session != null && !session.equals(current.getParent()) && segments(session).isEmpty()) {
        deleteEmpty(session);
      }
    }
  }

  private static void deleteEmpty(Path session) throws IOException {
    boolean unused = Files.deleteIfExists(session.resolve(LOCK));
    unused = Files.deleteIfExists(session);
  }

  /** Whether reading a segment came to an end that is no fault of a session that is written. */
  static boolean isSound(Item.End end, boolean last) {
    return end.ending() == Ending.WHOLE || (last && end.ending() == Ending.TORN);
  }
}
