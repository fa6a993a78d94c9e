/** How lines of the log look: encoders, levels and the command line's options for them. */
@NullMarked
package dev.sluice.app.log;

import org.jspecify.annotations.NullMarked;
