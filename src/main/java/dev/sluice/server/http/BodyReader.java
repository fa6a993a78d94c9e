package dev.sluice.server.http;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Reads bodies in pieces, each piece only after the budget has room for it. */
final class BodyReader {

  private static final int FIRST_PIECE = 8 * 1024;
  private static final int PIECE = 64 * 1024;

  private final Duration timeout;

  BodyReader(Duration timeout) {
    this.timeout = timeout;
  }

  /** Thrown when a body is larger than allowed. */
  static final class TooLargeException extends IOException {
    private static final long serialVersionUID = 1L;

    TooLargeException(int max) {
      super("body is larger than " + max + " bytes");
    }
  }

  /**
   * Reads the whole body.
   *
   * @param declared the declared length in bytes, or -1 if the client does not declare it
   * @param max the maximum length in bytes
   * @throws TooLargeException when the body is larger, as soon as that is known
   * @throws OverloadException when other requests use the budget
   */
  RequestBody read(InputStream in, long declared, int max, BodyBudget.Share share)
      throws IOException {
    if (declared > max) {
      throw new TooLargeException(max);
    }
    if (declared >= 0) {
      share.take(declared, timeout);
    }
    List<RequestBody.Piece> pieces = new ArrayList<>();
    long length = 0;
    while (true) {
      int piece = pieces.isEmpty() ? FIRST_PIECE : PIECE;
      int size = declared < 0 ? piece : (int) Math.min(piece, declared - length);
      if (declared < 0) {
        share.take(size, timeout);
      }
      byte[] bytes = in.readNBytes(size);
      length += bytes.length;
      if (length > max) {
        throw new TooLargeException(max);
      }
      if (bytes.length > 0) {
        pieces.add(new RequestBody.Piece(bytes, bytes.length));
      }
      if (bytes.length < size || length == declared) {
        return RequestBody.of(pieces);
      }
    }
  }
}
