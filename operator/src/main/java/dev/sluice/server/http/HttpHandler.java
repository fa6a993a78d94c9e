package dev.sluice.server.http;

import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;

/** Handles HTTP requests. Called from many virtual threads concurrently. */
@FunctionalInterface
public interface HttpHandler {

  /**
   * A request before its body is read.
   *
   * @param method in upper case
   * @param path decoded, without query
   * @param hasCertificate whether the client presented a certificate of the configured authority
   */
  record Head(String method, String path, boolean hasCertificate) {}

  /** The default maximum length of a body in bytes. */
  int USUAL_BODY = 8 * 1024 * 1024;

  /**
   * Handles a request. A request that cannot be served gets a response with an error status; an
   * exception is a bug, is logged, and becomes status 500 without details.
   */
  Response answer(Request request);

  /** The maximum length of a body for this path; called before the body is read. */
  default int maxBody(String path) {
    return USUAL_BODY;
  }

  /** Whether clients are asked for a certificate; the certificate is optional. */
  default boolean asksForCertificates() {
    return false;
  }

  /** The response to a request whose body is not needed; empty if the body must be read. */
  default Optional<Response> answerAtOnce(Head head) {
    return Optional.empty();
  }

  /**
   * The response to a request whose body isn't taken because it is too large, or others are in the
   * way.
   *
   * @param body the body, to read as much of its beginning as is needed; the server reads the rest
   * @param usual the response of the server, with status 413 or 503
   */
  default Response refusal(String path, InputStream body, Response usual) {
    return usual;
  }

  /** The estimated memory in bytes that the response takes, in addition to the body. */
  default long cost(Request request) {
    return request.requestBody().length();
  }

  /**
   * Whether the handler itself bounds how many requests for this path are answered at a time, and
   * with how much memory.
   */
  default boolean bounds(String path) {
    return false;
  }

  /**
   * Whether responses for this path are computed while they are sent. Such requests have a limiter
   * of their own, so that clients that read slowly do not block other clients.
   */
  default boolean isStreamed(String path) {
    return false;
  }

  /**
   * How long a response for this path may take, where that is more than the limit of the server:
   * for streams of events. The platform ends every response after a minute.
   */
  default Optional<Duration> streamTime(String path) {
    return Optional.empty();
  }
}
