package dev.sluice.server.endpoints;

import dev.sluice.server.http.HttpHandler;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.Response;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Answers requests to the paths of one pattern, of bounded cost, at once and whole. Everything else
 * is answered by another handler.
 */
abstract class PathEndpoint implements HttpHandler {

  private final Pattern paths;
  private final HttpHandler others;

  /**
   * Creates the endpoint.
   *
   * @param paths the whole paths that are answered here
   * @param others answers other paths
   */
  PathEndpoint(Pattern paths, HttpHandler others) {
    this.paths = paths;
    this.others = others;
  }

  /** The most bytes of a body. */
  abstract int maxBody();

  /** What a request costs, as {@link #cost(Request)} has it. */
  abstract long ownCost(Request request);

  /** Answers a request to a path that the pattern matches. */
  abstract Response answer(Request request, Matcher path);

  private boolean serves(String path) {
    return paths.matcher(path).matches();
  }

  @Override
  public final int maxBody(String path) {
    return serves(path) ? maxBody() : others.maxBody(path);
  }

  @Override
  public boolean asksForCertificates() {
    return others.asksForCertificates();
  }

  @Override
  public final Optional<Response> answerAtOnce(Head head) {
    return serves(head.path()) ? Optional.empty() : others.answerAtOnce(head);
  }

  @Override
  public final Response refusal(String path, InputStream body, Response usualResponse) {
    return serves(path) ? usualResponse : others.refusal(path, body, usualResponse);
  }

  @Override
  public final long cost(Request request) {
    return serves(request.path()) ? ownCost(request) : others.cost(request);
  }

  @Override
  public final boolean bounds(String path) {
    return !serves(path) && others.bounds(path);
  }

  @Override
  public final boolean isStreamed(String path) {
    return !serves(path) && others.isStreamed(path);
  }

  @Override
  public final Optional<Duration> streamTime(String path) {
    return serves(path) ? Optional.empty() : others.streamTime(path);
  }

  @Override
  public final Response answer(Request request) {
    Matcher path = paths.matcher(request.path());
    return path.matches() ? answer(request, path) : others.answer(request);
  }
}
