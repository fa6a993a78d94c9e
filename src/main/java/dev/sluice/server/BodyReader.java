package dev.sluice.server;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Reads bodies piece by piece, each piece only after the budget has room for it. */
final class BodyReader {

  private static final int FIRST_PIECE = 8 * 1024;
  private static final int PIECE = 64 * 1024;

  private final Duration patience;

  BodyReader(Duration patience) {
    this.patience = patience;
  }

  /** A body has more bytes than it may have. */
  static final class TooLargeException extends IOException {
    private static final long serialVersionUID = 1L;

    TooLargeException(int max) {
      super("body is larger than " + max + " bytes");
    }
  }

  /**
   * Reads to the end.
   *
   * @param declared how many bytes the client says there are, or -1 if it doesn't say
   * @param max how many bytes there may be
   * @throws TooLargeException when there are more, as soon as that is known
   * @throws OverloadException when others use the budget
   */
  RequestBody read(InputStream in, long declared, int max, BodyBudget.Share share)
      throws IOException {
    if (declared > max) {
      throw new TooLargeException(max);
    }
    if (declared >= 0) {
      share.take(declared, patience);
    }
    List<RequestBody.Piece> pieces = new ArrayList<>();
    long length = 0;
    while (true) {
      int piece = pieces.isEmpty() ? FIRST_PIECE : PIECE;
      int size = declared < 0 ? piece : (int) Math.min(piece, declared - length);
      if (declared < 0) {
        share.take(size, patience);
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
