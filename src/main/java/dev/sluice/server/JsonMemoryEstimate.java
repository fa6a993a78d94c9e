package dev.sluice.server;

/**
 * Estimates from the text of a JSON document how much memory its tree takes, without making it. An
 * upper bound for well-formed text; other text costs no more, since the parser stops where it is
 * malformed.
 *
 * @param whole bytes of the tree of the whole document
 * @param largestElement bytes of the largest element of any list in a field of a field of the
 *     document, as objects are in a {@code ConversionReview}; 0 if there is none
 */
record JsonMemoryEstimate(long whole, long largestElement) {

  /** A node with its map, and the map's first table. */
  private static final int OBJECT = 200;

  /** A node with its list, and the list's first array. */
  private static final int LIST = 104;

  /** An entry of a map or list with its value, apart from the bytes of names and texts. */
  private static final int ENTRY = 72;

  /** A byte of a text, in the tree and in the buffers of the parser. */
  private static final int TEXT = 3;

  /** Depth of an element: document, request, list. */
  private static final int ELEMENT = 3;

  static JsonMemoryEstimate of(RequestBody requestBody) {
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
