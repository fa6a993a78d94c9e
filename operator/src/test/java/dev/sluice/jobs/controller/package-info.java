/** What is decided about jobs is carried out, and nothing else. Tests of the controllers. */
@NullMarked
package dev.sluice.jobs.controller;

import org.jspecify.annotations.NullMarked;
