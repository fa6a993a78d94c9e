package dev.sluice.server.endpoints;

import dev.sluice.server.http.HttpHandler;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.Response;
import java.util.List;

/** Liveness and readiness of the process. */
public final class HealthEndpoint implements HttpHandler {

  private final String livePath;
  private final String readyPath;
  private final List<Check> vital;
  private final List<Check> checks;

  /**
   * A check of liveness or readiness.
   *
   * @param name shown when the check fails
   * @param condition evaluated at each request; must not block
   */
  public record Check(String name, Condition condition) {}

  /** A condition that is evaluated without blocking. */
  @FunctionalInterface
  public interface Condition {
    /** Whether the condition holds now. */
    boolean holds();
  }

  /**
   * Creates the endpoint.
   *
   * @param liveName last part of the path that answers ok while every vital check holds, such as
   *     {@code healthz}
   * @param readyName last part of the path that answers ok while every check holds
   */
  public HealthEndpoint(String liveName, String readyName, List<Check> vital, List<Check> checks) {
    this.livePath = path(liveName);
    this.readyPath = path(readyName);
    this.vital = List.copyOf(vital);
    this.checks = List.copyOf(checks);
  }

  @Override
  public int maxBody(String path) {
    return 0;
  }

  @Override
  public Response answer(Request request) {
    if (request.path().equals(livePath)) {
      return answer(vital, "not alive: ");
    }
    if (request.path().equals(readyPath)) {
      return answer(checks, "not ready: ");
    }
    return Response.text(404, "not found, there are " + livePath + " and " + readyPath);
  }

  private static Response answer(List<Check> checks, String otherwise) {
    List<String> missing =
        checks.stream().filter(check -> !check.condition().holds()).map(Check::name).toList();
    return missing.isEmpty()
        ? Response.text(200, "ok")
        : Response.text(503, otherwise + String.join(", ", missing));
  }

  private static String path(String name) {
    return name.startsWith("/") ? name : "/" + name;
  }
}
