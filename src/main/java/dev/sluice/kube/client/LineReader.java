package dev.sluice.kube.client;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** Cuts a stream into lines of bytes, without a copy per line. */
public final class LineReader {

  private final InputStream in;
  private byte[] buffer = new byte[1 << 16];
  private int from;
  private int scanned;
  private int end;
  private int lineEnd;

  /** Lines of {@code in}. */
  public LineReader(InputStream in) {
    this.in = in;
  }

  /** Moves to the next line; false at the end of the stream, where a broken line is dropped. */
  public boolean next() throws IOException {
    from = lineEnd == 0 ? 0 : lineEnd + 1;
    scanned = from;
    while (true) {
      for (; scanned < end; scanned++) {
        if (buffer[scanned] == '\n') {
          lineEnd = scanned;
          if (lineEnd > from) {
            return true;
          }
          from = scanned + 1;
        }
      }
      if (!fill()) {
        return false;
      }
    }
  }

  private boolean fill() throws IOException {
    if (from > 0) {
      System.arraycopy(buffer, from, buffer, 0, end - from);
      end -= from;
      scanned -= from;
      from = 0;
      lineEnd = 0;
    }
    if (end == buffer.length) {
      buffer = Arrays.copyOf(buffer, buffer.length * 2);
    }
    int count = in.read(buffer, end, buffer.length - end);
    if (count < 0) {
      return false;
    }
    end += count;
    return true;
  }

  /** The bytes that hold the line, from {@link #offset} on. */
  public byte[] bytes() {
    return buffer;
  }

  /** Where in {@link #bytes} the line begins. */
  public int offset() {
    return from;
  }

  /** How many bytes the line has. */
  public int length() {
    return lineEnd - from;
  }
}
