/** Tests of the laboratory's command line. */
@NullMarked
package dev.sluice.lab;

import org.jspecify.annotations.NullMarked;
