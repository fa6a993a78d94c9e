package dev.sluice.checks.multikueue.access;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/**
 * A login program for a worker cluster, as the operator's configuration names it. Two plugins are
 * equal if they run the same command with the same input.
 *
 * @param command the program, by path or found in {@code PATH}
 * @param args its arguments
 * @param env environment variables in addition to the operator's own
 * @param info input of the program: an ExecCredential without a status
 */
public record ExecPlugin(
    String command, List<String> args, Map<String, String> env, JsonNode info) {

  /** Copies the collections. */
  public ExecPlugin {
    args = List.copyOf(args);
    env = Map.copyOf(env);
    info = info.deepCopy();
  }

  /** The command only; arguments and environment may be secret. */
  @Override
  public String toString() {
    return "ExecPlugin[command=" + command + "]";
  }
}
