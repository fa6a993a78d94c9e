package dev.sluice.ledger;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What was observed and isn't in the database yet, in a file: it outlives the process that wrote
 * it, and takes no memory while the database is away. A file belongs to one process; files that
 * dead processes left are taken over. Whoever reads an observation twice has to cope with it.
 * Thread-safe.
 */
final class ObservationBuffer implements AutoCloseable {

  private static final String PREFIX = "ledger-";
  private static final String SUFFIX = ".buffer";

  /** How much is read at a time. */
  static final int READ_BYTES = 1 << 20;

  private final Path directory;
  private final Path file;
  private final long maxBytes;
  private final FileChannel channel;
  private final FileLock fileLock;

  /** Guards the fields below, and the end of the file. */
  private final ReentrantLock lock = new ReentrantLock();

  private long written;
  private long taken;
  private long read;

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
    written = channel.size();
    if (written > 0) {
      write(new byte[] {'\n'}); // the last line may be torn
    }
    takeOver();
  }

  private static Optional<FileLock> lock(FileChannel channel) throws IOException {
    try {
      return Optional.ofNullable(channel.tryLock());
    } catch (OverlappingFileLockException ofThisProcess) {
      return Optional.empty();
    }
  }

  /** Appends what dead processes left. */
  private void takeOver() throws IOException {
    try (DirectoryStream<Path> others =
        Files.newDirectoryStream(directory, PREFIX + "*" + SUFFIX)) {
      for (Path other : others) {
        if (!other.equals(file)) {
          takeOver(other);
        }
      }
    }
  }

  private void takeOver(Path other) throws IOException {
    try (FileChannel left =
        FileChannel.open(other, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (lock(left).isEmpty()) {
        return;
      }
      long from = written;
      for (long at = 0; at < left.size(); ) {
        ByteBuffer bytes = ByteBuffer.allocate(READ_BYTES);
        int count = left.read(bytes, at);
        bytes.flip();
        while (bytes.hasRemaining()) {
          written += channel.write(bytes, written);
        }
        at += Math.max(count, 0);
      }
      if (written > from) {
        write(new byte[] {'\n'});
      }
      channel.force(false);
      Files.delete(other);
    }
  }

  private void write(byte[] bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    long at = written;
    while (buffer.hasRemaining()) {
      at += channel.write(buffer, at);
    }
    written = at;
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
      if (written + line.length > maxBytes) {
        return false;
      }
      write(line);
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
    ByteBuffer bytes = ByteBuffer.allocate((int) (until - from));
    while (bytes.hasRemaining() && channel.read(bytes, from + bytes.position()) > 0) {
      // reads on
    }
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
        return false;
      }
      if (written > 0) {
        channel.truncate(0);
        written = 0;
        taken = 0;
        read = 0;
      }
      return true;
    } finally {
      lock.unlock();
    }
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
    try (channel) {
      fileLock.release();
      if (written == taken) {
        Files.deleteIfExists(file);
      }
    } finally {
      lock.unlock();
    }
  }
}
