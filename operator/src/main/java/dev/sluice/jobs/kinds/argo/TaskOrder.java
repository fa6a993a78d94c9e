package dev.sluice.jobs.kinds.argo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Which tasks of a DAG can't run side by side, because one waits for the end of the other. */
final class TaskOrder {

  /** Of more tasks the order isn't followed: that would take too long for each reading. */
  private static final int MOST = 500;

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_-]*");

  /** Expressions that can be true before all tasks that they name have ended. */
  private static final Pattern EARLY = Pattern.compile("\\|\\||!|Any|Daemoned");

  private final boolean known;

  /** By task: those that end before it begins. */
  private final List<BitSet> before = new ArrayList<>();

  TaskOrder(List<JsonNode> tasks) {
    known = !tasks.isEmpty() && tasks.size() <= MOST;
    if (!known) {
      return;
    }
    Map<String, Integer> places = new HashMap<>();
    for (int i = 0; i < tasks.size(); i++) {
      places.put(JsonFields.text(tasks.get(i), "name"), i);
    }
    for (JsonNode task : tasks) {
      BitSet direct = new BitSet();
      JsonFields.texts(task, "dependencies").forEach(name -> add(direct, places.get(name)));
      String depends = JsonFields.text(task, "depends");
      if (!EARLY.matcher(depends).find()) {
        Matcher names = NAME.matcher(depends);
        while (names.find()) {
          add(direct, places.get(names.group()));
        }
      }
      before.add(direct);
    }
    for (int via = 0; via < tasks.size(); via++) {
      for (BitSet each : before) {
        if (each.get(via)) {
          each.or(before.get(via));
        }
      }
    }
  }

  private static void add(BitSet set, @Nullable Integer place) {
    if (place != null) {
      set.set(place);
    }
  }

  /** Whether anything is known of the order. */
  boolean isKnown() {
    return known;
  }

  /** Whether two tasks may run at the same time. */
  boolean areSideBySide(int one, int other) {
    return !before.get(one).get(other) && !before.get(other).get(one);
  }
}
