/**
 * Tests of who sleeps and who is woken. Small trees with parked classes may enter. Nothing leaves.
 */
@NullMarked
package dev.sluice.core.scheduling;

import org.jspecify.annotations.NullMarked;
