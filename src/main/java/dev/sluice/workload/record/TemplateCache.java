package dev.sluice.workload.record;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.json.WeakInterner;
import java.io.IOException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Caches pod templates by their serialized bytes: most Workloads have the same template as another
 * one, which is not parsed again. Holds some megabytes at most. Usable from any thread.
 */
final class TemplateCache {

  private static final int MOST_BYTES = 8 << 20;

  private final WeakInterner<PodTemplate> weakInterner = new WeakInterner<>();
  private final Map<Raw, PodTemplate> byBytes = new LinkedHashMap<>(64, 0.75f, true);
  private long bytes;

  /** The template written in {@code json} from {@code from} to {@code to}. */
  PodTemplate of(byte[] json, int from, int to) throws IOException {
    Raw raw = Raw.of(json, from, to);
    PodTemplate known = known(raw);
    if (known != null) {
      return known;
    }
    JsonNode tree = JsonMappers.JSON.readTree(json, from, to - from);
    PodTemplate template = weakInterner.of(PodTemplateParser.of(tree));
    remember(raw.copied(), template);
    return template;
  }

  private synchronized @Nullable PodTemplate known(Raw raw) {
    return byBytes.get(raw);
  }

  private synchronized void remember(Raw raw, PodTemplate template) {
    if (byBytes.put(raw, template) == null) {
      bytes += raw.length();
    }
    Iterator<Raw> eldest = byBytes.keySet().iterator();
    while (bytes > MOST_BYTES && eldest.hasNext()) {
      bytes -= eldest.next().length();
      eldest.remove();
    }
  }

  /** A range of bytes, equal to ranges with the same content. */
  private static final class Raw {

    private final byte[] json;
    private final int from;
    private final int to;
    private final int hash;

    private Raw(byte[] json, int from, int to, int hash) {
      this.json = json;
      this.from = from;
      this.to = to;
      this.hash = hash;
    }

    static Raw of(byte[] json, int from, int to) {
      int hash = 1;
      for (int i = from; i < to; i++) {
        hash = 31 * hash + json[i];
      }
      return new Raw(json, from, to, hash);
    }

    Raw copied() {
      return new Raw(Arrays.copyOfRange(json, from, to), 0, to - from, hash);
    }

    int length() {
      return to - from;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Raw raw
          && raw.hash == hash
          && Arrays.equals(json, from, to, raw.json, raw.from, raw.to);
    }

    @Override
    public int hashCode() {
      return hash;
    }
  }
}
