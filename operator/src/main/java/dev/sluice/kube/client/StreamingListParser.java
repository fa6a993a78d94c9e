package dev.sluice.kube.client;

import dev.sluice.kube.client.BoundedAnswers.AnswerTooLongException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Cuts a list of objects, as the API server writes it, into its items while the bytes come in, so
 * that a page never lies in memory whole. What is around the items is kept.
 */
public final class StreamingListParser {

  private static final int CHUNK = 1 << 16;

  /** An item of so many times the allowed length ends the reading. */
  private static final int SKIPPED = 8;

  private final ItemSink sink;
  private final int longest;
  private final Buffer item = new Buffer(1 << 12);
  private final Buffer frame = new Buffer(1 << 10);
  private long skipped;
  private int depth;
  private int itemsDepth = -1;
  private boolean inString;
  private boolean escaped;

  private StreamingListParser(ItemSink sink, int longest) {
    this.sink = sink;
    this.longest = longest;
  }

  /** Takes an item; the bytes are only good during the call. */
  @FunctionalInterface
  public interface ItemSink {
    /** The item is written from 0 to {@code length}. */
    void item(byte[] bytes, int length) throws IOException;

    /** An item is longer than allowed, and was not kept. */
    default void tooLong() throws IOException {}
  }

  /**
   * Reads a whole list.
   *
   * @return what is around the items: the list with an empty array in their place
   */
  public static byte[] split(InputStream in, ItemSink sink) throws IOException {
    return split(in, sink, Integer.MAX_VALUE);
  }

  /**
   * Reads a whole list.
   *
   * @param longest the most bytes of an item that is kept, and of what is around the items
   * @return what is around the items: the list with an empty array in their place
   * @throws AnswerTooLongException when an item is eight times as long as allowed, or what is
   *     around the items is too long
   */
  public static byte[] split(InputStream in, ItemSink sink, int longest) throws IOException {
    StreamingListParser splitter = new StreamingListParser(sink, longest);
    byte[] chunk = new byte[CHUNK];
    for (int count = in.read(chunk); count >= 0; count = in.read(chunk)) {
      splitter.take(chunk, count);
    }
    if (splitter.depth != 0 || splitter.frame.length == 0) {
      throw new IOException("the list ended in the middle");
    }
    return Arrays.copyOf(splitter.frame.bytes, splitter.frame.length);
  }

  /**
   * Takes the next bytes. It looks at each byte, and copies many at a time: a long list is read
   * when a process is young, and its code slow.
   */
  private void take(byte[] chunk, int count) throws IOException {
    int from = 0;
    int next = 0;
    while (next < count) {
      int at = inString ? endOfString(chunk, next, count) : next;
      if (at == count) {
        break;
      }
      next = at + 1;
      switch (chunk[at]) {
        case '"' -> inString = !inString;
        case '{', '[' -> {
          depth++;
          if (depth == 2 && chunk[at] == '[') {
            itemsDepth = depth;
          } else if (itemsDepth > 0 && depth == itemsDepth + 1) {
            putFrame(chunk, from, at);
            from = at;
          }
        }
        case '}', ']' -> {
          depth--;
          if (itemsDepth > 0 && depth == itemsDepth) {
            putItem(chunk, from, next);
            from = next;
            if (skipped > 0) {
              sink.tooLong();
            } else {
              sink.item(item.bytes, item.length);
            }
            skipped = 0;
            item.length = 0;
          } else if (depth < itemsDepth) {
            itemsDepth = -1;
          }
        }
        case ',' -> {
          if (depth == itemsDepth) {
            putFrame(chunk, from, at);
            from = next;
          }
        }
        default -> {}
      }
    }
    if (itemsDepth > 0 && depth > itemsDepth) {
      putItem(chunk, from, count);
    } else {
      putFrame(chunk, from, count);
    }
  }

  private void putItem(byte[] chunk, int from, int to) throws IOException {
    if (skipped == 0 && (long) item.length + to - from <= longest) {
      item.put(chunk, from, to);
      return;
    }
    skipped += (skipped == 0 ? item.length : 0) + to - from;
    if (skipped / SKIPPED > longest) {
      throw new AnswerTooLongException("an object of more than " + skipped + " bytes");
    }
  }

  private void putFrame(byte[] chunk, int from, int to) throws IOException {
    if ((long) frame.length + to - from > longest) {
      throw new AnswerTooLongException(
          "a list with more than " + longest + " bytes around its items");
    }
    frame.put(chunk, from, to);
  }

  /** The place of the quotation mark that ends the string; {@code count} if it comes later. */
  private int endOfString(byte[] chunk, int from, int count) {
    boolean skip = escaped;
    int at = from;
    while (at < count && (skip || chunk[at] != '"')) {
      skip = !skip && chunk[at] == '\\';
      at++;
    }
    escaped = skip;
    return at;
  }

  /** Bytes that are collected, in an array that grows. */
  private static final class Buffer {
    private byte[] bytes;
    private int length;

    Buffer(int size) {
      bytes = new byte[size];
    }

    void put(byte[] chunk, int from, int to) {
      int needed = length + to - from;
      if (needed > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.max(needed, bytes.length * 2));
      }
      System.arraycopy(chunk, from, bytes, length, to - from);
      length = needed;
    }
  }
}
