package dev.sluice.server.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * An HTTP response.
 *
 * @param status the HTTP status
 * @param contentType media type of the body
 * @param content the body
 * @param headers further headers
 */
public record Response(
    int status, String contentType, Content content, Map<String, String> headers) {

  /** The body of a response. */
  public interface Content {

    /** The length in bytes, or -1 if it is known only after writing. */
    long length();

    /**
     * Writes all bytes; called once.
     *
     * @throws IOException when the stream fails; the bytes written so far are then not a valid
     *     response
     */
    void writeTo(OutputStream out) throws IOException;
  }

  private record Bytes(byte[] bytes) implements Content {
    @Override
    public long length() {
      return bytes.length;
    }

    @Override
    public void writeTo(OutputStream out) throws IOException {
      out.write(bytes);
    }
  }

  /** A response without further headers. */
  public Response(int status, String contentType, Content content) {
    this(status, contentType, content, Map.of());
  }

  /** A response with a body in memory, which must not be modified afterwards. */
  public Response(int status, String contentType, byte[] body) {
    this(status, contentType, new Bytes(body));
  }

  /** The same response with these further headers instead of its own. */
  public Response with(Map<String, String> further) {
    return new Response(status, contentType, content, further);
  }

  /** The body in memory. */
  public byte[] body() {
    if (content instanceof Bytes(byte[] bytes)) {
      return bytes;
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      content.writeTo(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  /** A plain text response; a line break is appended. */
  public static Response text(int status, String text) {
    return new Response(
        status, "text/plain; charset=utf-8", (text + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /** A JSON response with status 200. */
  public static Response json(byte[] body) {
    return new Response(200, "application/json", body);
  }
}
