package dev.sluice.kube.json;

import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;

/** Keeps one of all equal values, for as long as somebody holds it. Usable from any thread. */
public final class WeakInterner<T> {

  private final Map<T, WeakReference<T>> values = new WeakHashMap<>();

  /** The value equal to {@code value} that is already in use, or {@code value} itself. */
  public synchronized T of(T value) {
    WeakReference<T> known = values.get(value);
    T held = known == null ? null : known.get();
    if (held != null) {
      return held;
    }
    values.put(value, new WeakReference<>(value));
    return value;
  }
}
