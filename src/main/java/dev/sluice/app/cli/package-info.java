/**
 * The command line: operator, demo, bench, explain, control-plane. Arguments of people may enter.
 * What they asked for leaves, with an exit code that says how it went.
 */
@NullMarked
package dev.sluice.app.cli;

import org.jspecify.annotations.NullMarked;
