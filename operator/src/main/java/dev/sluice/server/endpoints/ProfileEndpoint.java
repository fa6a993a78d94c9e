package dev.sluice.server.endpoints;

import dev.sluice.server.auth.BearerToken;
import dev.sluice.server.auth.RequestAuthorizer;
import dev.sluice.server.http.HttpHandler;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.Response;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The endpoint {@code /debug/pprof/}: what the Java machine tells of itself. It changes nothing and
 * does one thing at a time.
 */
public final class ProfileEndpoint implements HttpHandler {

  /** Where the profiles are; users need the verb get on this path. */
  public static final String PATH = "/debug/pprof";

  private static final int USUAL_SECONDS = 30;
  private static final int MOST_SECONDS = 300;
  private static final Pattern SECONDS = Pattern.compile("(?:.*&)?seconds=([^&]*)(?:&.*)?");
  private static final String INDEX =
      """
      profiles of this process:
        /debug/pprof/threads            what each thread does, as of jstack
        /debug/pprof/heap               objects by class; ?gc=1 collects garbage before
        /debug/pprof/profile?seconds=N  a recording of Java Flight Recorder, 1 to 300 seconds (30)
      """;

  private final Optional<RequestAuthorizer> authorizer;
  private final ProcessProfiles profiles;
  private final Semaphore one = new Semaphore(1);
  private final Map<String, BiFunction<ProcessProfiles, Request, Response>> pages =
      Map.of(
          PATH + "/",
          (source, request) -> Response.text(200, INDEX.stripTrailing()),
          PATH + "/threads",
          (source, request) -> Response.text(200, source.threads()),
          PATH + "/heap",
          (source, request) -> Response.text(200, source.heap(request.query().equals("gc=1"))),
          PATH + "/profile",
          ProfileEndpoint::recording);

  /**
   * Creates the endpoint.
   *
   * @param authorizer who may read profiles; empty: everybody who reaches the endpoint
   */
  public ProfileEndpoint(Optional<RequestAuthorizer> authorizer, ProcessProfiles profiles) {
    this.authorizer = authorizer;
    this.profiles = profiles;
  }

  @Override
  public int maxBody(String path) {
    return 0;
  }

  @Override
  public Response answer(Request request) {
    String path = request.path().equals(PATH) ? PATH + "/" : request.path();
    var page = pages.get(path);
    if (page == null) {
      return Response.text(404, "not found, profiles are at " + PATH + "/");
    }
    if (!request.method().equals("GET")) {
      return Response.text(405, "method " + request.method() + " is not allowed, use GET");
    }
    Optional<Response> refusal =
        authorizer.flatMap(asked -> BearerToken.refusal(request, asked, PATH));
    return refusal.orElseGet(() -> alone(page, request));
  }

  private Response alone(BiFunction<ProcessProfiles, Request, Response> page, Request request) {
    if (!one.tryAcquire()) {
      return Response.text(429, "another profile is being taken; try again later");
    }
    try {
      return page.apply(profiles, request);
    } finally {
      one.release();
    }
  }

  private static Response recording(ProcessProfiles source, Request request) {
    Matcher given = SECONDS.matcher(request.query());
    int seconds = given.matches() ? seconds(given.group(1)) : USUAL_SECONDS;
    return seconds < 1 || seconds > MOST_SECONDS
        ? Response.text(400, "seconds: a whole number from 1 to " + MOST_SECONDS + " is needed")
        : source.recording(seconds);
  }

  private static int seconds(String text) {
    return text.matches("[0-9]{1,3}") ? Integer.parseInt(text) : 0;
  }

  /** What a process can tell of its threads, its memory and its use of the processor. */
  public interface ProcessProfiles {

    /** The stack of each thread. */
    String threads();

    /**
     * The objects on the heap by class: how many there are, and how large they are.
     *
     * @param collect whether garbage is collected before; else it is counted, too
     */
    String heap(boolean collect);

    /** A recording of this many seconds; the call takes so long. */
    Response recording(int seconds);
  }
}
