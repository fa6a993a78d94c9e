package dev.sluice.checks.multikueue.access;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/**
 * A program that logs in to a worker cluster, as the operator's configuration names it. Two are
 * equal if they are run alike.
 *
 * @param command what is run, by its path or found in {@code PATH}
 * @param args its arguments
 * @param env what its environment has beside the operator's own
 * @param info what it is told: an ExecCredential without a status
 */
public record ExecPlugin(
    String command, List<String> args, Map<String, String> env, JsonNode info) {

  /** With copies of the collections. */
  public ExecPlugin {
    args = List.copyOf(args);
    env = Map.copyOf(env);
    info = info.deepCopy();
  }

  /** Says what is run, and nothing that may be secret. */
  @Override
  public String toString() {
    return "ExecPlugin[command=" + command + "]";
  }
}
