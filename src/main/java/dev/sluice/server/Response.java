package dev.sluice.server;

import java.nio.charset.StandardCharsets;

/**
 * What to answer.
 *
 * @param status the HTTP status
 * @param contentType of the body
 * @param body not to be modified
 */
public record Response(int status, String contentType, byte[] body) {

  /** A plain text answer that ends with a line break. */
  public static Response text(int status, String text) {
    return new Response(
        status, "text/plain; charset=utf-8", (text + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /** JSON with status 200. */
  public static Response json(byte[] body) {
    return new Response(200, "application/json", body);
  }
}
