package dev.sluice.server;

import java.util.Map;
import java.util.Optional;

/**
 * A request as it came in, body read whole.
 *
 * @param method in upper case
 * @param path decoded, without query
 * @param query the raw query, empty if there is none
 * @param headers first value of each header, names in lower case
 * @param body empty if there is none
 */
public record Request(
    String method,
    String path,
    String query,
    Map<String, String> headers,
    RequestBody requestBody) {

  /** The first value of the header, whose name is given in lower case. */
  public Optional<String> header(String name) {
    return Optional.ofNullable(headers.get(name));
  }
}
