package dev.sluice.lab.bench;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The API server's metrics at one time.
 *
 * @param requests requests answered since its start, with any status, without dry runs
 * @param cpuSeconds processor time since its start
 */
record ServerReading(Map<RequestKey, Long> requests, double cpuSeconds) {

  private static final String REQUESTS = "apiserver_request_total{";
  private static final String CPU = "process_cpu_seconds_total ";
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

  /**
   * Parses the text format.
   *
   * @throws BenchException when one of the two metrics is missing
   */
  static ServerReading parse(String text) {
    Map<RequestKey, Long> requests = new TreeMap<>();
    double cpu = -1;
    for (String line : (Iterable<String>) text.lines()::iterator) {
      if (line.startsWith(REQUESTS)) {
        count(line, requests);
      } else if (line.startsWith(CPU)) {
        cpu = Double.parseDouble(line.substring(CPU.length()).strip());
      }
    }
    if (cpu < 0 || requests.isEmpty()) {
      throw new BenchException(
          "the API server's metrics lack process_cpu_seconds_total or apiserver_request_total");
    }
    return new ServerReading(requests, cpu);
  }

  private static void count(String line, Map<RequestKey, Long> requests) {
    int end = line.lastIndexOf('}');
    Map<String, String> labels = new TreeMap<>();
    Matcher matcher = LABEL.matcher(line.substring(REQUESTS.length(), end));
    while (matcher.find()) {
      labels.put(matcher.group(1), matcher.group(2));
    }
    if (labels.getOrDefault("dry_run", "").isEmpty()) {
      RequestKey key =
          new RequestKey(
              labels.getOrDefault("verb", ""),
              labels.getOrDefault("group", ""),
              labels.getOrDefault("resource", ""),
              labels.getOrDefault("subresource", ""));
      long value = Math.round(Double.parseDouble(line.substring(end + 1).strip()));
      requests.merge(key, value, Long::sum);
    }
  }

  /** Writes answered between an earlier reading and this one. */
  Map<RequestKey, Long> writesSince(ServerReading before) {
    Map<RequestKey, Long> writes = new TreeMap<>();
    requests.forEach(
        (key, value) -> {
          long more = value - before.requests.getOrDefault(key, 0L);
          if (key.writes() && more > 0) {
            writes.put(key, more);
          }
        });
    return writes;
  }
}
