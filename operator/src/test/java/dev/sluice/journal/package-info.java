@NullMarked
package dev.sluice.journal;

import org.jspecify.annotations.NullMarked;
