package dev.sluice.server;

import java.util.Map;
import java.util.Optional;

/**
 * A received request with its whole body.
 *
 * @param method in upper case
 * @param path decoded, without query
 * @param query the raw query, empty if absent
 * @param headers first value of each header, names in lower case
 * @param requestBody the body, empty if absent
 */
public record Request(
    String method,
    String path,
    String query,
    Map<String, String> headers,
    RequestBody requestBody) {

  /** The first value of a header; the name must be in lower case. */
  public Optional<String> header(String name) {
    return Optional.ofNullable(headers.get(name));
  }
}
