package dev.sluice.server.http;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The bytes of a request, stored in pieces, so that a large body needs no contiguous memory and is
 * never copied while it is read.
 */
public final class RequestBody {

  /** An empty body. */
  public static final RequestBody EMPTY = new RequestBody(List.of(), 0);

  private final List<Piece> pieces;
  private final int length;

  /** The first {@code length} bytes of an array. */
  record Piece(byte[] bytes, int length) {}

  private RequestBody(List<Piece> pieces, int length) {
    this.pieces = List.copyOf(pieces);
    this.length = length;
  }

  /** A body of these bytes, which are not copied. */
  public static RequestBody of(byte[] bytes) {
    return new RequestBody(List.of(new Piece(bytes, bytes.length)), bytes.length);
  }

  static RequestBody of(List<Piece> pieces) {
    return new RequestBody(pieces, pieces.stream().mapToInt(Piece::length).sum());
  }

  /** The length in bytes. */
  public int length() {
    return length;
  }

  /** Opens a stream from the beginning; may be called repeatedly. */
  public InputStream open() {
    List<InputStream> streams = new ArrayList<>();
    pieces.forEach(piece -> streams.add(new ByteArrayInputStream(piece.bytes(), 0, piece.length)));
    return new SequenceInputStream(Collections.enumeration(streams));
  }

  /** All bytes in one array, for small bodies. */
  public byte[] bytes() {
    byte[] all = new byte[length];
    int at = 0;
    for (Piece piece : pieces) {
      System.arraycopy(piece.bytes(), 0, all, at, piece.length());
      at += piece.length();
    }
    return all;
  }

  List<Piece> pieces() {
    return pieces;
  }
}
