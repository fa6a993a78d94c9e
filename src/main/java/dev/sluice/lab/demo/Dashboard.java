package dev.sluice.lab.demo;

import java.util.List;

/** What a screen shows of a story, as lines of text; asked again and again, from any thread. */
interface Dashboard {

  /**
   * A part of the picture.
   *
   * @param title its heading in a table
   * @param tag begins each of its lines where there is no table
   * @param lines how things stand now
   */
  record Section(String title, String tag, List<String> lines) {

    /** With a copy of the lines. */
    public Section {
      lines = List.copyOf(lines);
    }
  }

  /** How things stand now. */
  List<Section> sections();

  /** Everything that happened so far, in its order. */
  List<String> events();
}
