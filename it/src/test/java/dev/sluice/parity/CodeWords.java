package dev.sluice.parity;

import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** String literals of the sources that look like reasons: one word that begins with a capital. */
final class CodeWords {

  private static final Pattern WORD = Pattern.compile("\"([A-Z][A-Za-z]+)\"");

  /** Rooms that write no conditions, or a few that are named in {@code reasons.txt}. */
  private static final Set<String> READERS =
      Set.of(
          "api",
          "app",
          "dashboard",
          "forecast",
          "install",
          "journal",
          "kube",
          "ledger",
          "server",
          "visibility",
          "webhooks");

  private CodeWords() {}

  /** The words of rooms that write conditions or events, with these rooms. */
  static Map<String, SortedSet<String>> writers() {
    Map<String, SortedSet<String>> written = new TreeMap<>();
    rooms()
        .forEach(
            (word, rooms) -> {
              SortedSet<String> writers = new TreeSet<>(rooms);
              writers.removeAll(READERS);
              if (!writers.isEmpty()) {
                written.put(word, writers);
              }
            });
    return written;
  }

  /** All words, with the rooms that have them. */
  static Map<String, SortedSet<String>> rooms() {
    Map<String, SortedSet<String>> rooms = new TreeMap<>();
    ParityFiles.sources()
        .forEach(
            (file, text) -> {
              String room = ParityFiles.room(file);
              Matcher word = WORD.matcher(text);
              while (word.find()) {
                rooms.computeIfAbsent(word.group(1), key -> new TreeSet<>()).add(room);
              }
            });
    return rooms;
  }
}
