package dev.sluice.kube.client;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Cuts a list of objects, as the API server writes it, into its items while the bytes come in, so
 * that a page never lies in memory whole. What is around the items is kept.
 */
public final class StreamingListParser {

  private static final int CHUNK = 1 << 16;

  private final ItemSink sink;
  private byte[] item = new byte[1 << 12];
  private int itemLength;
  private byte[] frame = new byte[1 << 10];
  private int frameLength;
  private int depth;
  private int itemsDepth = -1;
  private boolean inString;
  private boolean escaped;

  private StreamingListParser(ItemSink sink) {
    this.sink = sink;
  }

  /** Takes an item; the bytes are only good during the call. */
  @FunctionalInterface
  public interface ItemSink {
    /** The item is written from 0 to {@code length}. */
    void item(byte[] bytes, int length) throws IOException;
  }

  /**
   * Reads a whole list.
   *
   * @return what is around the items: the list with an empty array in their place
   */
  public static byte[] split(InputStream in, ItemSink sink) throws IOException {
    StreamingListParser splitter = new StreamingListParser(sink);
    byte[] chunk = new byte[CHUNK];
    for (int count = in.read(chunk); count >= 0; count = in.read(chunk)) {
      for (int i = 0; i < count; i++) {
        splitter.take(chunk[i]);
      }
    }
    if (splitter.depth != 0 || splitter.frameLength == 0) {
      throw new IOException("the list ended in the middle");
    }
    return Arrays.copyOf(splitter.frame, splitter.frameLength);
  }

  private void take(byte b) throws IOException {
    boolean inItem = itemsDepth > 0 && depth > itemsDepth;
    if (inString) {
      put(b, inItem);
      inString = escaped || b != '"';
      escaped = !escaped && b == '\\';
      return;
    }
    switch (b) {
      case '{', '[' -> open(b);
      case '}', ']' -> close(b, inItem);
      case ',' -> {
        if (depth != itemsDepth) {
          put(b, inItem);
        }
      }
      default -> {
        inString = b == '"';
        put(b, inItem);
      }
    }
  }

  /** Items are the objects in an array that is a direct field of the list. */
  private void open(byte b) {
    depth++;
    if (b == '[' && depth == 2) {
      itemsDepth = depth;
      putFrame(b);
      return;
    }
    put(b, itemsDepth > 0 && depth > itemsDepth);
  }

  private void close(byte b, boolean inItem) throws IOException {
    put(b, inItem);
    depth--;
    if (inItem && depth == itemsDepth) {
      sink.item(item, itemLength);
      itemLength = 0;
    } else if (depth < itemsDepth) {
      itemsDepth = -1;
    }
  }

  private void put(byte b, boolean inItem) {
    if (!inItem) {
      putFrame(b);
      return;
    }
    if (itemLength == item.length) {
      item = Arrays.copyOf(item, itemLength * 2);
    }
    item[itemLength++] = b;
  }

  private void putFrame(byte b) {
    if (frameLength == frame.length) {
      frame = Arrays.copyOf(frame, frameLength * 2);
    }
    frame[frameLength++] = b;
  }
}
