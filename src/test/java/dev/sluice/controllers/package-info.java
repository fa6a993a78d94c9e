/** What holds for leadership, and for writes of queue kinds. */
@NullMarked
package dev.sluice.controllers;

import org.jspecify.annotations.NullMarked;
