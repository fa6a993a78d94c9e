package dev.sluice.server.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A received request with its whole body.
 *
 * @param method in upper case
 * @param path decoded, without query
 * @param query the raw query, empty if absent
 * @param headers all values of each header, names in lower case
 * @param requestBody the body, empty if absent
 * @param certificates what the client presented, its own certificate first; empty if nothing
 * @param source where the client is, as a key for budgets: an address, or the network of it; empty
 *     if unknown
 */
public record Request(
    String method,
    String path,
    String query,
    Map<String, List<String>> headers,
    RequestBody requestBody,
    List<X509Certificate> certificates,
    String source) {

  /** A request of a client without certificate. */
  public Request(
      String method,
      String path,
      String query,
      Map<String, List<String>> headers,
      RequestBody requestBody) {
    this(method, path, query, headers, requestBody, List.of());
  }

  /** A request of a client whose source is unknown. */
  public Request(
      String method,
      String path,
      String query,
      Map<String, List<String>> headers,
      RequestBody requestBody,
      List<X509Certificate> certificates) {
    this(method, path, query, headers, requestBody, certificates, "");
  }

  /** The first value of a parameter of the query, decoded; empty if it can't be decoded. */
  public Optional<String> parameter(String name) {
    for (String part : query.split("&")) {
      if (part.startsWith(name + "=")) {
        try {
          return Optional.of(
              URLDecoder.decode(part.substring(name.length() + 1), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException notEncoded) {
          return Optional.empty();
        }
      }
    }
    return Optional.empty();
  }

  /** The first value of a header; the name must be in lower case. */
  public Optional<String> header(String name) {
    return headerValues(name).stream().findFirst();
  }

  /** All values of a header, in the order in which they were sent; the name in lower case. */
  public List<String> headerValues(String name) {
    return headers.getOrDefault(name, List.of());
  }
}
