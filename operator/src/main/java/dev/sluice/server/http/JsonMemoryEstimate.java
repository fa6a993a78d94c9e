package dev.sluice.server.http;

/**
 * Estimates the memory of the tree of a JSON document from its text, without building the tree. The
 * estimate is an upper bound for well-formed text; malformed text costs no more, since the parser
 * stops at the error.
 *
 * @param whole bytes of the tree of the whole document
 * @param largestElement bytes of the largest element of any list at the level of {@code
 *     request.objects} of a {@code ConversionReview}; 0 if there is none
 */
public record JsonMemoryEstimate(long whole, long largestElement) {

  /** Bytes of a node with its map and the map's initial table. */
  private static final int OBJECT = 200;

  /** Bytes of a node with its list and the list's initial array. */
  private static final int LIST = 104;

  /**
   * Bytes of an entry of a map or list with its value, without the characters of names and texts.
   */
  private static final int ENTRY = 72;

  /** Bytes per byte of text, in the tree and in the parser's buffers. */
  private static final int TEXT = 3;

  /** Depth of an element: document, request, list. */
  private static final int ELEMENT = 3;

  /** Estimates by one scan of the bytes, without building a tree. */
  public static JsonMemoryEstimate of(RequestBody requestBody) {
    Scan scan = new Scan();
    for (RequestBody.Piece piece : requestBody.pieces()) {
      for (int i = 0; i < piece.length(); i++) {
        scan.next(piece.bytes()[i]);
      }
    }
    return new JsonMemoryEstimate(scan.total, Math.max(scan.largest, scan.element));
  }

  private static final class Scan {

    private long total;
    private long element;
    private long largest;
    private int depth;
    private boolean inText;
    private boolean escaped;

    void next(byte c) {
      if (inText) {
        text(c);
        return;
      }
      switch (c) {
        case '"' -> inText = true;
        case '{' -> open(OBJECT);
        case '[' -> open(LIST);
        case '}', ']' -> depth--;
        case ',', ':' -> comma();
        default -> add(1);
      }
    }

    private void text(byte c) {
      add(TEXT);
      if (escaped) {
        escaped = false;
      } else if (c == '\\') {
        escaped = true;
      } else if (c == '"') {
        inText = false;
      }
    }

    private void open(int cost) {
      depth++;
      add(cost);
    }

    private void comma() {
      if (depth == ELEMENT) {
        largest = Math.max(largest, element);
        element = 0;
      }
      add(ENTRY);
    }

    private void add(int cost) {
      total += cost;
      if (depth >= ELEMENT) {
        element += cost;
      }
    }
  }
}
