package dev.sluice.lab.controlplane.binaries;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/** Reads one file from a compressed tar archive. */
final class TarGz implements Closeable {

  private static final int BLOCK = 512;
  private static final int NAME_LENGTH = 100;
  private static final int SIZE_OFFSET = 124;
  private static final int SIZE_LENGTH = 12;

  private final InputStream content;

  private TarGz(InputStream content) {
    this.content = content;
  }

  static TarGz open(Path archive) throws IOException {
    return new TarGz(
        new BufferedInputStream(new GZIPInputStream(Files.newInputStream(archive)), 1 << 16));
  }

  /** The content of the first file of that path; valid until this object is closed. */
  InputStream find(String path) throws IOException {
    for (byte[] header = content.readNBytes(BLOCK);
        header.length == BLOCK && header[0] != 0;
        header = content.readNBytes(BLOCK)) {
      long size = Long.parseLong(field(header, SIZE_OFFSET, SIZE_LENGTH).strip(), 8);
      if (field(header, 0, NAME_LENGTH).equals(path)) {
        return new Limited(content, size);
      }
      content.skipNBytes((size + BLOCK - 1) / BLOCK * BLOCK);
    }
    throw new IOException("the archive has no " + path);
  }

  private static String field(byte[] header, int offset, int length) {
    String text = new String(header, offset, length, StandardCharsets.US_ASCII);
    int end = text.indexOf('\0');
    return end < 0 ? text : text.substring(0, end);
  }

  @Override
  public void close() throws IOException {
    content.close();
  }

  private static final class Limited extends FilterInputStream {

    private long left;

    Limited(InputStream in, long size) {
      super(in);
      this.left = size;
    }

    @Override
    public int read() throws IOException {
      if (left == 0) {
        return -1;
      }
      left--;
      return in.read();
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      if (left == 0) {
        return -1;
      }
      int count = in.read(target, offset, (int) Math.min(length, left));
      left -= Math.max(count, 0);
      return count;
    }
  }
}
