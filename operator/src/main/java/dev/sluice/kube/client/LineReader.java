package dev.sluice.kube.client;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Cuts a stream into lines of bytes, without a copy per line. A line that is longer than allowed is
 * read to its end without being kept, and counted.
 */
public final class LineReader {

  /** A line of so many times the allowed length ends the reading. */
  private static final int SKIPPED = 8;

  private static final int FIRST_BUFFER = 1 << 16;

  private final InputStream in;
  private final int longest;
  private byte[] buffer = new byte[FIRST_BUFFER];
  private int from;
  private int scanned;
  private int end;
  private int lineEnd;
  private long skipped;
  private int skippedLines;

  /** Lines of {@code in}, of any length. */
  public LineReader(InputStream in) {
    this(in, Integer.MAX_VALUE);
  }

  /**
   * Lines of {@code in}.
   *
   * @param longest the most bytes of a line that is kept
   */
  public LineReader(InputStream in, int longest) {
    this.in = in;
    this.longest = longest;
  }

  /**
   * Moves to the next line that is not too long; false at the end of the stream, where a broken
   * line is dropped.
   *
   * @throws AnswerTooLongException when a line is eight times as long as allowed
   */
  public boolean next() throws IOException {
    from = lineEnd == 0 ? 0 : lineEnd + 1;
    scanned = from;
    while (true) {
      for (; scanned < end; scanned++) {
        if (buffer[scanned] == '\n') {
          lineEnd = scanned;
          if (skipped > 0) {
            skipped = 0;
            skippedLines++;
          } else if (lineEnd > from) {
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
    if (skipped > 0 || end - from > longest) {
      skipped += end - from;
      from = end;
      if (skipped / SKIPPED > longest) {
        throw new AnswerTooLongException("a line of more than " + skipped + " bytes");
      }
    }
    if (from > 0) {
      System.arraycopy(buffer, from, buffer, 0, end - from);
      end -= from;
      scanned -= from;
      from = 0;
      lineEnd = 0;
    }
    if (end == buffer.length) {
      buffer =
          Arrays.copyOf(buffer, (int) Math.min(2L * buffer.length, longest + (long) FIRST_BUFFER));
    }
    int count = in.read(buffer, end, buffer.length - end);
    if (count < 0) {
      return false;
    }
    end += count;
    return true;
  }

  /** How many lines were too long, and were left out. */
  public int skippedLines() {
    return skippedLines;
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
