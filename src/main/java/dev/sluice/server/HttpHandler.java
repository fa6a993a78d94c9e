package dev.sluice.server;

import java.util.Optional;

/** Answers requests. Called from many virtual threads at once. */
@FunctionalInterface
public interface HttpHandler {

  /**
   * What is known of a request before its body is read.
   *
   * @param method in upper case
   * @param path decoded, without query
   * @param hasCertificate whether the client showed a certificate of the configured authority
   */
  record Head(String method, String path, boolean hasCertificate) {}

  /** As many bytes as a body has at most, where an endpoint doesn't say otherwise. */
  int USUAL_BODY = 8 * 1024 * 1024;

  /**
   * The answer. A request that can't be served is answered with a status that says so; what is
   * thrown is a bug, is logged, and becomes status 500 without detail.
   */
  Response answer(Request request);

  /** How many bytes a body that is sent to this path may have; asked before any is read. */
  default int maxBody(String path) {
    return USUAL_BODY;
  }

  /** Whether clients are asked for a certificate; they may come without one. */
  default boolean asksForCertificates() {
    return false;
  }

  /** The answer to a request whose body need not be read; empty if it is to be read. */
  default Optional<Response> answerAtOnce(Head head) {
    return Optional.empty();
  }

  /** About how many bytes of memory answering takes, beyond the body itself. */
  default long cost(Request request) {
    return request.requestBody().length();
  }

  /**
   * Whether answers at this path are made while they are sent. Such requests have places of their
   * own, so that clients who read slowly keep nobody else waiting.
   */
  default boolean isStreamed(String path) {
    return false;
  }
}
