package dev.sluice.workload;

/** Workload objects as the API server writes them, by what matters to a test. */
public final class Json {

  private Json() {}

  /** A Workload without status. */
  public static String workload(String name, long version) {
    return workload(name, "uid-" + name, version, "{}");
  }

  /** A Workload of one pod set, with the status. */
  public static String workload(String name, String uid, long version, String status) {
    return """
    {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{\
    "name":"%s","namespace":"team","uid":"%s","resourceVersion":"%d","generation":1,\
    "creationTimestamp":"2026-01-02T03:04:05Z",\
    "managedFields":[{"manager":"x","fieldsV1":{"f:a":{},"f:quote\\"d}":{}}}],\
    "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"job-%s","controller":true}]},\
    "spec":{"queueName":"lq","podSets":[{"name":"main","count":3,"template":{"spec":{\
    "containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}}]},\
    "status":%s}\
    """
        .formatted(name, uid, version, name, status);
  }

  /** A page of a list; {@code next} is where the next page begins, or empty. */
  public static String list(long version, String next, String... items) {
    return """
    {"kind":"WorkloadList","apiVersion":"kueue.x-k8s.io/v1beta2","metadata":{"resourceVersion":"%d","continue":"%s"},"items":[%s]}\
    """
        .formatted(version, next, String.join(",", items));
  }

  /** A line of a watch. */
  public static String event(String type, String object) {
    return "{\"type\":\"" + type + "\",\"object\":" + object + "}\n";
  }

  /** A line that says how far the watch is. */
  public static String bookmark(long version) {
    return event(
        "BOOKMARK",
        "{\"kind\":\"Workload\",\"metadata\":{\"resourceVersion\":\"" + version + "\"}}");
  }

  /** A line that says that the version is too old. */
  public static String gone() {
    return event(
        "ERROR",
        "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"too old\"}");
  }
}
