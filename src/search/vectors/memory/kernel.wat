;; The loops over rows that JavaScript is too slow for. layout.ts says where things are in the memory. A list
;; holds indexes of rows in a slab, 16 bits each, those of one entry after another. kernel.ts holds the bytes
;; of this text; `vitest run test/search/kernels.test.ts -u` writes them anew.
(module
  (import "store" "memory" (memory 1 65535 shared))

  ;; Bytes of a vector as integers, of their residuals, and as halves of the integers.
  (import "layout" "codeBytes" (global $code_bytes i32))
  (import "layout" "halfBytes" (global $half_bytes i32))
  ;; Bytes of the distances of one query, in each slab.
  (import "layout" "distanceBytes" (global $distance_bytes i32))
  ;; Sections of a slab, from its beginning.
  (import "slab" "highs" (global $highs i32))
  (import "slab" "lows" (global $lows i32))
  (import "slab" "scales" (global $scales i32))
  (import "slab" "centers" (global $centers i32))
  (import "slab" "distances" (global $distances i32))
  (import "slab" "residuals" (global $residuals i32))
  ;; What one query needs.
  (import "scratch" "query" (global $query i32))
  (import "scratch" "coarse" (global $coarse_query i32))
  (import "scratch" "floats" (global $query_floats i32))
  (import "scratch" "codes" (global $codes i32))
  (import "scratch" "uppers" (global $uppers i32))
  (import "scratch" "chosen" (global $chosen i32))
  (import "scratch" "narrowed" (global $narrowed i32))
  (import "scratch" "histogram" (global $histogram i32))
  (import "scratch" "order" (global $order i32))
  (import "scratch" "terms" (global $terms i32))

  ;; Place among its capabilities of the best one of the entry last given to $similarity, -1 without any.
  (global $best (export "best") (mut i32) (i32.const -1))

  ;; What `touch` has read: a sum that nobody needs, since a read without a use may be left out.
  (global $touched (mut i32) (i32.const 0))

  ;; For each row in the list, the most that its dot product with the query can be:
  ;;   scale * (unit * (dot of integers - center) + margin) + slack
  ;; Four rows at a time, so that a piece of the query is loaded once for all of them; after the last row come
  ;; up to three that an older list left there. The query is 14 bits and not
  ;; negative (its offset is what the centers take off again), in pieces of 16 high halves, then 16 low halves,
  ;; of 7 bits each: with the top bit clear, the relaxed dot product is exact on every processor.
  (func $estimate (export "estimate")
    (param $slab i32) (param $list i32) (param $listed i32)
    (param $unit f32) (param $margin f32) (param $slack f32)
    (local $scales i32) (local $centers i32) (local $uppers i32)
    (local $end i32) (local $piece i32) (local $row_end i32)
    (local $row0 i32) (local $row1 i32) (local $row2 i32) (local $row3 i32)
    (local $high v128) (local $low v128) (local $codes v128)
    (local $high0 v128) (local $high1 v128) (local $high2 v128) (local $high3 v128)
    (local $low0 v128) (local $low1 v128) (local $low2 v128) (local $low3 v128)
    (local $index0 i32) (local $index1 i32) (local $index2 i32) (local $index3 i32)

    (local.set $scales (i32.add (local.get $slab) (global.get $scales)))
    (local.set $centers (i32.add (local.get $slab) (global.get $centers)))
    (local.set $uppers (global.get $uppers))
    (local.set $end (i32.add (local.get $list) (i32.shl (local.get $listed) (i32.const 1))))
    (loop $groups
      (br_if 1 (i32.ge_u (local.get $list) (local.get $end)))
      (local.set $index0 (i32.load16_u (local.get $list)))
      (local.set $index1 (i32.load16_u offset=2 (local.get $list)))
      (local.set $index2 (i32.load16_u offset=4 (local.get $list)))
      (local.set $index3 (i32.load16_u offset=6 (local.get $list)))
      (local.set $list (i32.add (local.get $list) (i32.const 8)))
      (local.set $row0 (global.get $codes))
      (local.set $row1 (call $unpack (local.get $slab) (local.get $index0) (local.get $row0)))
      (local.set $row2 (call $unpack (local.get $slab) (local.get $index1) (local.get $row1)))
      (local.set $row3 (call $unpack (local.get $slab) (local.get $index2) (local.get $row2)))
      (drop (call $unpack (local.get $slab) (local.get $index3) (local.get $row3)))
      (local.set $row_end (i32.add (local.get $row0) (global.get $code_bytes)))
      (local.set $piece (global.get $query))
      (local.set $high0 (v128.const i32x4 0 0 0 0))
      (local.set $high1 (v128.const i32x4 0 0 0 0))
      (local.set $high2 (v128.const i32x4 0 0 0 0))
      (local.set $high3 (v128.const i32x4 0 0 0 0))
      (local.set $low0 (v128.const i32x4 0 0 0 0))
      (local.set $low1 (v128.const i32x4 0 0 0 0))
      (local.set $low2 (v128.const i32x4 0 0 0 0))
      (local.set $low3 (v128.const i32x4 0 0 0 0))

      (loop $pieces
        (local.set $high (v128.load (local.get $piece)))
        (local.set $low (v128.load offset=16 (local.get $piece)))
        (local.set $codes (v128.load (local.get $row0)))
        (local.set $high0 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $high) (local.get $high0)))
        (local.set $low0 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $low) (local.get $low0)))
        (local.set $codes (v128.load (local.get $row1)))
        (local.set $high1 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $high) (local.get $high1)))
        (local.set $low1 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $low) (local.get $low1)))
        (local.set $codes (v128.load (local.get $row2)))
        (local.set $high2 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $high) (local.get $high2)))
        (local.set $low2 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $low) (local.get $low2)))
        (local.set $codes (v128.load (local.get $row3)))
        (local.set $high3 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $high) (local.get $high3)))
        (local.set $low3 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $low) (local.get $low3)))

        (local.set $high (v128.load offset=32 (local.get $piece)))
        (local.set $low (v128.load offset=48 (local.get $piece)))
        (local.set $codes (v128.load offset=16 (local.get $row0)))
        (local.set $high0 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $high) (local.get $high0)))
        (local.set $low0 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $low) (local.get $low0)))
        (local.set $codes (v128.load offset=16 (local.get $row1)))
        (local.set $high1 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $high) (local.get $high1)))
        (local.set $low1 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $low) (local.get $low1)))
        (local.set $codes (v128.load offset=16 (local.get $row2)))
        (local.set $high2 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $high) (local.get $high2)))
        (local.set $low2 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $low) (local.get $low2)))
        (local.set $codes (v128.load offset=16 (local.get $row3)))
        (local.set $high3 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $high) (local.get $high3)))
        (local.set $low3 (i32x4.relaxed_dot_i8x16_i7x16_add_s (local.get $codes) (local.get $low) (local.get $low3)))

        (local.set $piece (i32.add (local.get $piece) (i32.const 64)))
        (local.set $row1 (i32.add (local.get $row1) (i32.const 32)))
        (local.set $row2 (i32.add (local.get $row2) (i32.const 32)))
        (local.set $row3 (i32.add (local.get $row3) (i32.const 32)))
        (br_if $pieces
          (i32.lt_u (local.tee $row0 (i32.add (local.get $row0) (i32.const 32))) (local.get $row_end))))

      (v128.store (local.get $uppers)
        (f32x4.add
          (f32x4.mul
            (call $gather (local.get $scales)
              (local.get $index0) (local.get $index1) (local.get $index2) (local.get $index3))
            (f32x4.add
              (f32x4.mul
                (f32x4.splat (local.get $unit))
                (f32x4.sub
                  (f32x4.add
                    (f32x4.mul
                      (f32x4.convert_i32x4_s
                        (call $sums (local.get $high0) (local.get $high1) (local.get $high2) (local.get $high3)))
                      (v128.const f32x4 128 128 128 128))
                    (f32x4.convert_i32x4_s
                      (call $sums (local.get $low0) (local.get $low1) (local.get $low2) (local.get $low3))))
                  (call $gather (local.get $centers)
                    (local.get $index0) (local.get $index1) (local.get $index2) (local.get $index3))))
              (f32x4.splat (local.get $margin))))
          (f32x4.splat (local.get $slack))))

      (local.set $uppers (i32.add (local.get $uppers) (i32.const 16)))
      (br $groups)))

  ;; Of entries with `width` rows each, lists those whose upper bound, half the first row's and half the best
  ;; of the others' (or the only row's), reaches the threshold: number in the list, upper and lower bound.
  ;; Returns how many they are.
  (func (export "choose")
    (param $slab i32) (param $list i32) (param $entries i32) (param $width i32)
    (param $threshold f32) (param $margin f32) (param $slack f32) (result i32)
    (local $scales i32) (local $chosen i32) (local $entry i32) (local $row i32) (local $row_end i32) (local $best i32)
    (local $upper f32) (local $other f32) (local $least v128)

    (local.set $scales (i32.add (local.get $slab) (global.get $scales)))
    (local.set $chosen (global.get $chosen))
    (if (i32.eq (local.get $width) (i32.const 1))
      (then
        (local.set $least (f32x4.splat (local.get $threshold)))
        (loop $singles
          (if (i32.lt_u (local.get $entry) (local.get $entries))
            (then
              (if (i32.eqz (i32.and (local.get $entry) (i32.const 3)))
                (then
                  (if
                    (i32.eqz
                      (v128.any_true
                        (f32x4.ge
                          (v128.load
                            (i32.add (global.get $uppers) (i32.shl (local.get $entry) (i32.const 2))))
                          (local.get $least))))
                    (then
                      (local.set $entry (i32.add (local.get $entry) (i32.const 4)))
                      (br $singles)))))
              (local.set $upper
                (f32.load (i32.add (global.get $uppers) (i32.shl (local.get $entry) (i32.const 2)))))
              (if (f32.ge (local.get $upper) (local.get $threshold))
                (then
                  (i32.store (local.get $chosen) (local.get $entry))
                  (f32.store offset=4 (local.get $chosen) (local.get $upper))
                  (f32.store offset=8 (local.get $chosen)
                    (f32.sub
                      (local.get $upper)
                      (call $doubt (local.get $scales) (local.get $list) (local.get $entry)
                        (local.get $margin) (local.get $slack))))
                  (local.set $chosen (i32.add (local.get $chosen) (i32.const 12)))))
              (local.set $entry (i32.add (local.get $entry) (i32.const 1)))
              (br $singles)))))
      (else
        (loop $several
          (if (i32.lt_u (local.get $entry) (local.get $entries))
            (then
              (local.set $row
                (i32.add
                  (global.get $uppers)
                  (i32.shl (i32.mul (local.get $entry) (local.get $width)) (i32.const 2))))
              (local.set $row_end (i32.add (local.get $row) (i32.shl (local.get $width) (i32.const 2))))
              (local.set $upper (f32.load (local.get $row)))
              (local.set $best (local.tee $row (i32.add (local.get $row) (i32.const 4))))
              (local.set $other (f32.load (local.get $row)))
              (loop $others
                (if (f32.gt (f32.load (local.get $row)) (local.get $other))
                  (then
                    (local.set $other (f32.load (local.get $row)))
                    (local.set $best (local.get $row))))
                (br_if $others
                  (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 4))) (local.get $row_end))))
              (local.set $upper
                (f32.mul (f32.const 0.5) (f32.add (local.get $upper) (local.get $other))))
              (if (f32.ge (local.get $upper) (local.get $threshold))
                (then
                  (i32.store (local.get $chosen) (local.get $entry))
                  (f32.store offset=4 (local.get $chosen) (local.get $upper))
                  (f32.store offset=8 (local.get $chosen)
                    (f32.sub
                      (local.get $upper)
                      (f32.mul
                        (f32.const 0.5)
                        (f32.add
                          (call $doubt (local.get $scales) (local.get $list)
                            (i32.mul (local.get $entry) (local.get $width))
                            (local.get $margin) (local.get $slack))
                          (call $doubt (local.get $scales) (local.get $list)
                            (i32.shr_u (i32.sub (local.get $best) (global.get $uppers)) (i32.const 2))
                            (local.get $margin) (local.get $slack))))))
                  (local.set $chosen (i32.add (local.get $chosen) (i32.const 12)))))
              (local.set $entry (i32.add (local.get $entry) (i32.const 1)))
              (br $several))))))
    (i32.div_u (i32.sub (local.get $chosen) (global.get $chosen)) (i32.const 12)))

  ;; The similarity of the entry with `width` rows from this index on, in double precision. Sets $best. Of several
  ;; other rows, those whose upper bound is below the best of them are not compared.
  (func (export "similarity")
    (param $slab i32) (param $index i32) (param $width i32)
    (param $unit f32) (param $margin f32) (param $slack f32) (result f64)
    (local $own f64) (local $other f64) (local $highest f64) (local $others i32) (local $place i32)

    (global.set $best (i32.const -1))
    (local.set $own (call $dot (local.get $slab) (local.get $index)))
    (if (i32.eq (local.get $width) (i32.const 1)) (then (return (local.get $own))))
    (local.set $index (i32.add (local.get $index) (i32.const 1)))
    (local.set $others (i32.sub (local.get $width) (i32.const 1)))
    (global.set $best (i32.const 0))
    (if (i32.gt_u (local.get $others) (i32.const 1))
      (then
        (call $estimate_next (local.get $slab) (local.get $index) (local.get $others)
          (local.get $unit) (local.get $margin) (local.get $slack))
        (loop $uppers
          (local.set $place (i32.add (local.get $place) (i32.const 1)))
          (if (f32.gt (call $upper (local.get $place)) (call $upper (global.get $best)))
            (then (global.set $best (local.get $place))))
          (br_if $uppers (i32.lt_u (i32.add (local.get $place) (i32.const 1)) (local.get $others))))))
    (local.set $highest (call $dot (local.get $slab) (i32.add (local.get $index) (global.get $best))))
    (if (i32.gt_u (local.get $others) (i32.const 1))
      (then
        (local.set $place (i32.const 0))
        (loop $rest
          (if
            (i32.and
              (i32.ne (local.get $place) (global.get $best))
              (f64.ge (f64.promote_f32 (call $upper (local.get $place))) (local.get $highest)))
            (then
              (local.set $other (call $dot (local.get $slab) (i32.add (local.get $index) (local.get $place))))
              (if
                (i32.or
                  (f64.gt (local.get $other) (local.get $highest))
                  (i32.and
                    (f64.eq (local.get $other) (local.get $highest))
                    (i32.lt_u (local.get $place) (global.get $best))))
                (then
                  (local.set $highest (local.get $other))
                  (global.set $best (local.get $place))))))
          (br_if $rest
            (i32.lt_u (local.tee $place (i32.add (local.get $place) (i32.const 1))) (local.get $others))))))
    (f64.mul (f64.const 0.5) (f64.add (local.get $own) (local.get $highest))))

  ;; `estimate` for `rows` rows from this index on.
  (func $estimate_next
    (param $slab i32) (param $index i32) (param $rows i32)
    (param $unit f32) (param $margin f32) (param $slack f32)
    (local $list i32) (local $end i32)

    (local.set $list (global.get $narrowed))
    (local.set $end (i32.add (local.get $list) (i32.shl (local.get $rows) (i32.const 1))))
    (loop $next
      (i32.store16 (local.get $list) (local.get $index))
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (br_if $next (i32.lt_u (local.tee $list (i32.add (local.get $list) (i32.const 2))) (local.get $end))))
    (call $estimate (local.get $slab) (global.get $narrowed) (local.get $rows)
      (local.get $unit) (local.get $margin) (local.get $slack)))

  ;; What `estimate` found for the row with this number.
  (func $upper (param $number i32) (result f32)
    (f32.load (i32.add (global.get $uppers) (i32.shl (local.get $number) (i32.const 2)))))

  ;; Writes how far the listed entries are from the query at the least, by the high halves of their integers,
  ;; and adds how far they seem to be to the histogram. An entry has half the first row's similarity and half the
  ;; best of the others', or the only row's.
  ;; Of a list that leaves out few rows it reads all `rows` of the slab one after another: that takes less time.
  (func (export "measure")
    (param $slab i32) (param $list i32) (param $entries i32) (param $width i32) (param $rows i32)
    (param $unit f32) (param $base f32) (param $margin f32) (param $slack f32)
    (local $distances i32) (local $end i32) (local $row i32) (local $row_end i32) (local $bin i32)
    (local $both v128) (local $others v128)

    (if (local.get $rows)
      (then
        (call $estimate_high (local.get $slab) (global.get $order) (local.get $rows)
          (local.get $unit) (local.get $base) (local.get $margin) (local.get $slack)))
      (else
        (call $estimate_high (local.get $slab) (local.get $list) (i32.mul (local.get $entries) (local.get $width))
          (local.get $unit) (local.get $base) (local.get $margin) (local.get $slack))))
    (local.set $distances (i32.add (local.get $slab) (global.get $distances)))
    (local.set $end (i32.add (local.get $distances) (i32.shl (local.get $entries) (i32.const 1))))
    (local.set $row (global.get $uppers))
    (loop $next
      (br_if 1 (i32.ge_u (local.get $distances) (local.get $end)))
      (if (local.get $rows)
        (then
          (local.set $row (i32.add (global.get $uppers) (i32.shl (i32.load16_u (local.get $list)) (i32.const 3))))
          (local.set $list (i32.add (local.get $list) (i32.shl (local.get $width) (i32.const 1))))))
      (local.set $row_end (i32.add (local.get $row) (i32.shl (local.get $width) (i32.const 3))))
      (local.set $both (v128.load64_zero (local.get $row)))
      (local.set $row (i32.add (local.get $row) (i32.const 8)))
      (if (i32.lt_u (local.get $row) (local.get $row_end))
        (then
          (local.set $others (v128.load64_zero (local.get $row)))
          (loop $several
            (local.set $others (f32x4.pmax (local.get $others) (v128.load64_zero (local.get $row))))
            (br_if $several
              (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 8))) (local.get $row_end))))
          (local.set $both
            (f32x4.mul (v128.const f32x4 0.5 0.5 0.5 0.5) (f32x4.add (local.get $both) (local.get $others))))))
      (local.set $both (call $distances_of (local.get $both)))
      (i32.store16 (local.get $distances) (i32x4.extract_lane 0 (local.get $both)))
      (local.set $bin
        (i32.add
          (global.get $histogram)
          (i32.shl (i32x4.extract_lane 1 (local.get $both)) (i32.const 2))))
      (i32.store (local.get $bin) (i32.add (i32.load (local.get $bin)) (i32.const 1)))
      (local.set $distances (i32.add (local.get $distances) (i32.const 2)))
      (br $next)))

  ;; `measure` for four queries, whose terms, numbers of four lanes, are in the scratch. A row is read once for all of
  ;; them. The distances and the histogram of a query come after those of the query before it.
  (func (export "measureFour")
    (param $slab i32) (param $list i32) (param $entries i32) (param $width i32) (param $rows i32)
    (local $distances i32) (local $end i32) (local $row i32) (local $row_end i32)
    (local $most v128) (local $seeming v128) (local $most_other v128) (local $seeming_other v128)

    (if (local.get $rows)
      (then (call $estimate_four (local.get $slab) (global.get $order) (local.get $rows)))
      (else
        (call $estimate_four (local.get $slab) (local.get $list)
          (i32.mul (local.get $entries) (local.get $width)))))
    (local.set $distances (i32.add (local.get $slab) (global.get $distances)))
    (local.set $end (i32.add (local.get $distances) (i32.shl (local.get $entries) (i32.const 1))))
    (local.set $row (global.get $uppers))
    (loop $next
      (br_if 1 (i32.ge_u (local.get $distances) (local.get $end)))
      (if (local.get $rows)
        (then
          (local.set $row (i32.add (global.get $uppers) (i32.shl (i32.load16_u (local.get $list)) (i32.const 5))))
          (local.set $list (i32.add (local.get $list) (i32.shl (local.get $width) (i32.const 1))))))
      (local.set $row_end (i32.add (local.get $row) (i32.shl (local.get $width) (i32.const 5))))
      (local.set $most (v128.load (local.get $row)))
      (local.set $seeming (v128.load offset=16 (local.get $row)))
      (local.set $row (i32.add (local.get $row) (i32.const 32)))
      (if (i32.lt_u (local.get $row) (local.get $row_end))
        (then
          (local.set $most_other (v128.load (local.get $row)))
          (local.set $seeming_other (v128.load offset=16 (local.get $row)))
          (loop $several
            (local.set $most_other (f32x4.pmax (local.get $most_other) (v128.load (local.get $row))))
            (local.set $seeming_other
              (f32x4.pmax (local.get $seeming_other) (v128.load offset=16 (local.get $row))))
            (br_if $several
              (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 32))) (local.get $row_end))))
          (local.set $most
            (f32x4.mul
              (v128.const f32x4 0.5 0.5 0.5 0.5)
              (f32x4.add (local.get $most) (local.get $most_other))))
          (local.set $seeming
            (f32x4.mul
              (v128.const f32x4 0.5 0.5 0.5 0.5)
              (f32x4.add (local.get $seeming) (local.get $seeming_other))))))
      (local.set $most (call $distances_of (local.get $most)))
      (local.set $seeming (i32x4.shl (call $distances_of (local.get $seeming)) (i32.const 2)))
      (v128.store16_lane 0 (local.get $distances) (local.get $most))
      (v128.store16_lane 2
        (i32.add (local.get $distances) (global.get $distance_bytes))
        (local.get $most))
      (v128.store16_lane 4
        (i32.add (local.get $distances) (i32.shl (global.get $distance_bytes) (i32.const 1)))
        (local.get $most))
      (v128.store16_lane 6
        (i32.add (local.get $distances) (i32.mul (global.get $distance_bytes) (i32.const 3)))
        (local.get $most))
      (call $count (i32.add (global.get $histogram) (i32x4.extract_lane 0 (local.get $seeming))))
      (call $count (i32.add (global.get $histogram) (i32.add (i32.const 8192) (i32x4.extract_lane 1 (local.get $seeming)))))
      (call $count (i32.add (global.get $histogram) (i32.add (i32.const 16384) (i32x4.extract_lane 2 (local.get $seeming)))))
      (call $count (i32.add (global.get $histogram) (i32.add (i32.const 24576) (i32x4.extract_lane 3 (local.get $seeming)))))
      (local.set $distances (i32.add (local.get $distances) (i32.const 2)))
      (br $next)))

  ;; Adds one to the number there.
  (func $count (param $bin i32)
    (i32.store (local.get $bin) (i32.add (i32.load (local.get $bin)) (i32.const 1))))

  ;; The distances of four similarities: 0 for 1 and more, 2047 for -1 and less.
  (func $distances_of (param $similarities v128) (result v128)
    (i32x4.min_s
      (i32x4.max_s
        (i32x4.trunc_sat_f32x4_s
          (f32x4.mul
            (f32x4.sub (v128.const f32x4 1 1 1 1) (local.get $similarities))
            (v128.const f32x4 1024 1024 1024 1024)))
        (v128.const i32x4 0 0 0 0))
      (v128.const i32x4 2047 2047 2047 2047)))

  ;; What `estimate_high` finds, for each of four queries: the most of all four, then what they seem to be. The queries
  ;; are in pieces of 32 numbers, one of each after another. Two rows at a time: more need more registers than there are.
  (func $estimate_four (param $slab i32) (param $list i32) (param $listed i32)
    (local $rows i32) (local $scales i32) (local $uppers i32)
    (local $end i32) (local $piece i32) (local $row_end i32) (local $block_end i32)
    (local $row0 i32) (local $row1 i32) (local $index0 i32) (local $index1 i32)
    (local $mask v128) (local $first v128) (local $second v128)
    (local $low0 v128) (local $high0 v128) (local $low1 v128) (local $high1 v128)
    (local $near00 v128) (local $sum00 v128) (local $near01 v128) (local $sum01 v128)
    (local $near10 v128) (local $sum10 v128) (local $near11 v128) (local $sum11 v128)
    (local $near20 v128) (local $sum20 v128) (local $near21 v128) (local $sum21 v128)
    (local $near30 v128) (local $sum30 v128) (local $near31 v128) (local $sum31 v128)
    (local.set $mask (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f))
    (local.set $rows (i32.add (local.get $slab) (global.get $highs)))
    (local.set $scales (i32.add (local.get $slab) (global.get $scales)))
    (local.set $uppers (global.get $uppers))
    (local.set $end (i32.add (local.get $list) (i32.shl (local.get $listed) (i32.const 1))))
    (loop $groups
      (br_if 1 (i32.ge_u (local.get $list) (local.get $end)))
      (local.set $index0 (i32.load16_u (local.get $list)))
      (local.set $index1 (i32.load16_u offset=2 (local.get $list)))
      (local.set $list (i32.add (local.get $list) (i32.const 4)))
      (local.set $row0 (i32.add (local.get $rows) (i32.mul (local.get $index0) (global.get $half_bytes))))
      (local.set $row1 (i32.add (local.get $rows) (i32.mul (local.get $index1) (global.get $half_bytes))))
      (local.set $row_end (i32.add (local.get $row0) (global.get $half_bytes)))
      (local.set $piece (global.get $coarse_query))
      (local.set $sum00 (v128.const i32x4 0 0 0 0))
      (local.set $sum01 (v128.const i32x4 0 0 0 0))
      (local.set $sum10 (v128.const i32x4 0 0 0 0))
      (local.set $sum11 (v128.const i32x4 0 0 0 0))
      (local.set $sum20 (v128.const i32x4 0 0 0 0))
      (local.set $sum21 (v128.const i32x4 0 0 0 0))
      (local.set $sum30 (v128.const i32x4 0 0 0 0))
      (local.set $sum31 (v128.const i32x4 0 0 0 0))
      (loop $blocks
        (local.set $block_end (i32.add (local.get $row0) (i32.const 64)))
        (local.set $near00 (v128.const i32x4 0 0 0 0))
        (local.set $near01 (v128.const i32x4 0 0 0 0))
        (local.set $near10 (v128.const i32x4 0 0 0 0))
        (local.set $near11 (v128.const i32x4 0 0 0 0))
        (local.set $near20 (v128.const i32x4 0 0 0 0))
        (local.set $near21 (v128.const i32x4 0 0 0 0))
        (local.set $near30 (v128.const i32x4 0 0 0 0))
        (local.set $near31 (v128.const i32x4 0 0 0 0))
        (loop $pieces
          (local.set $low0 (v128.load (local.get $row0)))
          (local.set $high0 (v128.and (i16x8.shr_u (local.get $low0) (i32.const 4)) (local.get $mask)))
          (local.set $low0 (v128.and (local.get $low0) (local.get $mask)))
          (local.set $low1 (v128.load (local.get $row1)))
          (local.set $high1 (v128.and (i16x8.shr_u (local.get $low1) (i32.const 4)) (local.get $mask)))
          (local.set $low1 (v128.and (local.get $low1) (local.get $mask)))
          (local.set $first (v128.load offset=0 (local.get $piece)))
          (local.set $second (v128.load offset=16 (local.get $piece)))
          (local.set $near00
            (i16x8.add
              (local.get $near00)
              (i16x8.add
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $first) (local.get $low0))
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $second) (local.get $high0)))))
          (local.set $near01
            (i16x8.add
              (local.get $near01)
              (i16x8.add
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $first) (local.get $low1))
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $second) (local.get $high1)))))
          (local.set $first (v128.load offset=32 (local.get $piece)))
          (local.set $second (v128.load offset=48 (local.get $piece)))
          (local.set $near10
            (i16x8.add
              (local.get $near10)
              (i16x8.add
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $first) (local.get $low0))
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $second) (local.get $high0)))))
          (local.set $near11
            (i16x8.add
              (local.get $near11)
              (i16x8.add
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $first) (local.get $low1))
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $second) (local.get $high1)))))
          (local.set $first (v128.load offset=64 (local.get $piece)))
          (local.set $second (v128.load offset=80 (local.get $piece)))
          (local.set $near20
            (i16x8.add
              (local.get $near20)
              (i16x8.add
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $first) (local.get $low0))
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $second) (local.get $high0)))))
          (local.set $near21
            (i16x8.add
              (local.get $near21)
              (i16x8.add
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $first) (local.get $low1))
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $second) (local.get $high1)))))
          (local.set $first (v128.load offset=96 (local.get $piece)))
          (local.set $second (v128.load offset=112 (local.get $piece)))
          (local.set $near30
            (i16x8.add
              (local.get $near30)
              (i16x8.add
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $first) (local.get $low0))
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $second) (local.get $high0)))))
          (local.set $near31
            (i16x8.add
              (local.get $near31)
              (i16x8.add
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $first) (local.get $low1))
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $second) (local.get $high1)))))
          (local.set $piece (i32.add (local.get $piece) (i32.const 128)))
          (local.set $row1 (i32.add (local.get $row1) (i32.const 16)))
          (br_if $pieces
            (i32.lt_u (local.tee $row0 (i32.add (local.get $row0) (i32.const 16))) (local.get $block_end))))
        (local.set $sum00 (i32x4.add (local.get $sum00) (i32x4.extadd_pairwise_i16x8_s (local.get $near00))))
        (local.set $sum01 (i32x4.add (local.get $sum01) (i32x4.extadd_pairwise_i16x8_s (local.get $near01))))
        (local.set $sum10 (i32x4.add (local.get $sum10) (i32x4.extadd_pairwise_i16x8_s (local.get $near10))))
        (local.set $sum11 (i32x4.add (local.get $sum11) (i32x4.extadd_pairwise_i16x8_s (local.get $near11))))
        (local.set $sum20 (i32x4.add (local.get $sum20) (i32x4.extadd_pairwise_i16x8_s (local.get $near20))))
        (local.set $sum21 (i32x4.add (local.get $sum21) (i32x4.extadd_pairwise_i16x8_s (local.get $near21))))
        (local.set $sum30 (i32x4.add (local.get $sum30) (i32x4.extadd_pairwise_i16x8_s (local.get $near30))))
        (local.set $sum31 (i32x4.add (local.get $sum31) (i32x4.extadd_pairwise_i16x8_s (local.get $near31))))
        (br_if $blocks (i32.lt_u (local.get $row0) (local.get $row_end))))
      (call $store_four (local.get $uppers)
        (v128.load32_splat (i32.add (local.get $scales) (i32.shl (local.get $index0) (i32.const 2))))
        (call $sums (local.get $sum00) (local.get $sum10) (local.get $sum20) (local.get $sum30)))
      (call $store_four (i32.add (local.get $uppers) (i32.const 32))
        (v128.load32_splat (i32.add (local.get $scales) (i32.shl (local.get $index1) (i32.const 2))))
        (call $sums (local.get $sum01) (local.get $sum11) (local.get $sum21) (local.get $sum31)))
      (local.set $uppers (i32.add (local.get $uppers) (i32.const 64)))
      (br $groups)))

  ;; Writes what the row with this scale has at most, and what it seems to have, by its integers' dot products with the
  ;; four queries.
  (func $store_four (param $target i32) (param $scale v128) (param $dots v128)
    (local $seeming v128)

    (local.set $seeming
      (f32x4.mul
        (local.get $scale)
        (f32x4.add
          (f32x4.mul (v128.load (global.get $terms)) (f32x4.convert_i32x4_s (local.get $dots)))
          (v128.load offset=16 (global.get $terms)))))
    (v128.store offset=16 (local.get $target) (local.get $seeming))
    (v128.store (local.get $target)
      (f32x4.add
        (local.get $seeming)
        (f32x4.add
          (f32x4.mul (local.get $scale) (v128.load offset=32 (global.get $terms)))
          (v128.load offset=48 (global.get $terms))))))

  ;; For each row in the list, what its dot product with the query hardly exceeds and what it seems to be, by the
  ;; high halves of its integers: scale * (unit * dot of halves + base), and that + scale * margin + slack before it.
  ;; Four rows at a time, as above. The halves are not
  ;; negative (`base` takes the offset off again), those of 32 numbers in 16 bytes: the first 16 are in the low bits.
  ;; The query has 8 bits; the sums of 128 numbers fit into 16. To add up in 32 bits at once takes a tenth less time on
  ;; processors with AVX-VNNI, and half as much again on others.
  (func $estimate_high
    (param $slab i32) (param $list i32) (param $listed i32)
    (param $unit f32) (param $base f32) (param $margin f32) (param $slack f32)
    (local $rows i32) (local $scales i32) (local $uppers i32)
    (local $end i32) (local $piece i32) (local $row_end i32) (local $block_end i32)
    (local $row0 i32) (local $row1 i32) (local $row2 i32) (local $row3 i32)
    (local $first v128) (local $second v128) (local $halves v128) (local $mask v128)
    (local $near0 v128) (local $near1 v128) (local $near2 v128) (local $near3 v128)
    (local $sum0 v128) (local $sum1 v128) (local $sum2 v128) (local $sum3 v128)
    (local $scale v128) (local $seeming v128) (local $most v128)
    (local $index0 i32) (local $index1 i32) (local $index2 i32) (local $index3 i32)

    (local.set $mask (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f))
    (local.set $rows (i32.add (local.get $slab) (global.get $highs)))
    (local.set $scales (i32.add (local.get $slab) (global.get $scales)))
    (local.set $uppers (global.get $uppers))
    (local.set $end (i32.add (local.get $list) (i32.shl (local.get $listed) (i32.const 1))))
    (loop $groups
      (br_if 1 (i32.ge_u (local.get $list) (local.get $end)))
      (local.set $index0 (i32.load16_u (local.get $list)))
      (local.set $index1 (i32.load16_u offset=2 (local.get $list)))
      (local.set $index2 (i32.load16_u offset=4 (local.get $list)))
      (local.set $index3 (i32.load16_u offset=6 (local.get $list)))
      (local.set $list (i32.add (local.get $list) (i32.const 8)))
      (local.set $row0 (i32.add (local.get $rows) (i32.mul (local.get $index0) (global.get $half_bytes))))
      (local.set $row1 (i32.add (local.get $rows) (i32.mul (local.get $index1) (global.get $half_bytes))))
      (local.set $row2 (i32.add (local.get $rows) (i32.mul (local.get $index2) (global.get $half_bytes))))
      (local.set $row3 (i32.add (local.get $rows) (i32.mul (local.get $index3) (global.get $half_bytes))))
      (local.set $row_end (i32.add (local.get $row0) (global.get $half_bytes)))
      (local.set $piece (global.get $coarse_query))
      (local.set $sum0 (v128.const i32x4 0 0 0 0))
      (local.set $sum1 (v128.const i32x4 0 0 0 0))
      (local.set $sum2 (v128.const i32x4 0 0 0 0))
      (local.set $sum3 (v128.const i32x4 0 0 0 0))
      (loop $blocks
        (local.set $block_end (i32.add (local.get $row0) (i32.const 64)))
        (local.set $near0 (v128.const i32x4 0 0 0 0))
        (local.set $near1 (v128.const i32x4 0 0 0 0))
        (local.set $near2 (v128.const i32x4 0 0 0 0))
        (local.set $near3 (v128.const i32x4 0 0 0 0))
        (loop $pieces
          (local.set $first (v128.load (local.get $piece)))
          (local.set $second (v128.load offset=16 (local.get $piece)))
          (local.set $halves (v128.load (local.get $row0)))
          (local.set $near0
            (i16x8.add
              (local.get $near0)
              (i16x8.add
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $first) (v128.and (local.get $halves) (local.get $mask)))
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $second)
                  (v128.and (i16x8.shr_u (local.get $halves) (i32.const 4)) (local.get $mask))))))
          (local.set $halves (v128.load (local.get $row1)))
          (local.set $near1
            (i16x8.add
              (local.get $near1)
              (i16x8.add
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $first) (v128.and (local.get $halves) (local.get $mask)))
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $second)
                  (v128.and (i16x8.shr_u (local.get $halves) (i32.const 4)) (local.get $mask))))))
          (local.set $halves (v128.load (local.get $row2)))
          (local.set $near2
            (i16x8.add
              (local.get $near2)
              (i16x8.add
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $first) (v128.and (local.get $halves) (local.get $mask)))
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $second)
                  (v128.and (i16x8.shr_u (local.get $halves) (i32.const 4)) (local.get $mask))))))
          (local.set $halves (v128.load (local.get $row3)))
          (local.set $near3
            (i16x8.add
              (local.get $near3)
              (i16x8.add
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $first) (v128.and (local.get $halves) (local.get $mask)))
                (i16x8.relaxed_dot_i8x16_i7x16_s (local.get $second)
                  (v128.and (i16x8.shr_u (local.get $halves) (i32.const 4)) (local.get $mask))))))
          (local.set $piece (i32.add (local.get $piece) (i32.const 32)))
          (local.set $row1 (i32.add (local.get $row1) (i32.const 16)))
          (local.set $row2 (i32.add (local.get $row2) (i32.const 16)))
          (local.set $row3 (i32.add (local.get $row3) (i32.const 16)))
          (br_if $pieces
            (i32.lt_u (local.tee $row0 (i32.add (local.get $row0) (i32.const 16))) (local.get $block_end))))
        (local.set $sum0 (i32x4.add (local.get $sum0) (i32x4.extadd_pairwise_i16x8_s (local.get $near0))))
        (local.set $sum1 (i32x4.add (local.get $sum1) (i32x4.extadd_pairwise_i16x8_s (local.get $near1))))
        (local.set $sum2 (i32x4.add (local.get $sum2) (i32x4.extadd_pairwise_i16x8_s (local.get $near2))))
        (local.set $sum3 (i32x4.add (local.get $sum3) (i32x4.extadd_pairwise_i16x8_s (local.get $near3))))
        (br_if $blocks (i32.lt_u (local.get $row0) (local.get $row_end))))

      (local.set $scale
        (call $gather (local.get $scales)
          (local.get $index0) (local.get $index1) (local.get $index2) (local.get $index3)))
      (local.set $seeming
        (f32x4.mul
          (local.get $scale)
          (f32x4.add
            (f32x4.mul
              (f32x4.splat (local.get $unit))
              (f32x4.convert_i32x4_s
                (call $sums (local.get $sum0) (local.get $sum1) (local.get $sum2) (local.get $sum3))))
            (f32x4.splat (local.get $base)))))
      (local.set $most
        (f32x4.add
          (local.get $seeming)
          (f32x4.add
            (f32x4.mul (local.get $scale) (f32x4.splat (local.get $margin)))
            (f32x4.splat (local.get $slack)))))
      (v128.store (local.get $uppers)
        (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $most) (local.get $seeming)))
      (v128.store offset=16 (local.get $uppers)
        (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $most) (local.get $seeming)))
      (local.set $uppers (i32.add (local.get $uppers) (i32.const 32)))
      (br $groups)))

  ;; Lists in the scratch the rows of those listed entries that were measured to be no further away than this from the
  ;; query with this number; returns how many entries they are. Most entries are further away, so it looks at eight at once.
  (func (export "narrow")
    (param $slab i32) (param $list i32) (param $entries i32) (param $width i32)
    (param $furthest i32) (param $query i32) (result i32)
    (local $narrowed i32) (local $distances i32) (local $entry i32) (local $kept i32)
    (local $row i32) (local $row_end i32) (local $most v128)

    (local.set $narrowed (global.get $narrowed))
    (local.set $distances
      (i32.add
        (i32.add (local.get $slab) (global.get $distances))
        (i32.mul (local.get $query) (global.get $distance_bytes))))
    (local.set $most (i16x8.splat (local.get $furthest)))
    (loop $next
      (if (i32.lt_u (local.get $entry) (local.get $entries))
        (then
          (if (i32.eqz (i32.and (local.get $entry) (i32.const 7)))
            (then
              (if
                (i32.eqz
                  (v128.any_true
                    (i16x8.le_u
                      (v128.load
                        (i32.add (local.get $distances) (i32.shl (local.get $entry) (i32.const 1))))
                      (local.get $most))))
                (then
                  (local.set $entry (i32.add (local.get $entry) (i32.const 8)))
                  (br $next)))))
          (if
            (i32.le_u
              (i32.load16_u (i32.add (local.get $distances) (i32.shl (local.get $entry) (i32.const 1))))
              (local.get $furthest))
            (then
              (local.set $kept (i32.add (local.get $kept) (i32.const 1)))
              (local.set $row
                (i32.add
                  (local.get $list)
                  (i32.shl (i32.mul (local.get $entry) (local.get $width)) (i32.const 1))))
              (local.set $row_end (i32.add (local.get $row) (i32.shl (local.get $width) (i32.const 1))))
              (loop $rows
                (i32.store16 (local.get $narrowed) (i32.load16_u (local.get $row)))
                (global.set $touched
                  (i32.add (global.get $touched) (call $touch (local.get $slab) (i32.load16_u (local.get $row)))))
                (local.set $narrowed (i32.add (local.get $narrowed) (i32.const 2)))
                (br_if $rows
                  (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 2))) (local.get $row_end))))))
          (local.set $entry (i32.add (local.get $entry) (i32.const 1)))
          (br $next))))
    (local.get $kept))

  ;; Reads a byte of each cache line of the row's integers, so that the processor fetches all of them at once: where one
  ;; read waits for the other, rows that lie scattered take three times as long.
  (func $touch (param $slab i32) (param $index i32) (result i32)
    (local $high i32) (local $end i32) (local $sum i32) (local $distance i32)

    (local.set $high
      (i32.add
        (i32.add (local.get $slab) (global.get $highs))
        (i32.mul (local.get $index) (global.get $half_bytes))))
    (local.set $end (i32.add (local.get $high) (global.get $half_bytes)))
    (local.set $distance (i32.sub (global.get $lows) (global.get $highs)))
    (loop $lines
      (local.set $sum
        (i32.add
          (local.get $sum)
          (i32.add
            (i32.load8_u (local.get $high))
            (i32.load8_u (i32.add (local.get $high) (local.get $distance))))))
      (br_if $lines
        (i32.lt_u (local.tee $high (i32.add (local.get $high) (i32.const 64))) (local.get $end))))
    (local.get $sum))

  ;; Dot product of this row with the floats of the query: scale * (integer + residual / 254) is a number of the
  ;; row with 16 bits.
  (func $dot (param $slab i32) (param $index i32) (result f64)
    (local $row i32) (local $residual i32) (local $query i32) (local $end i32)
    (local $a v128) (local $b v128) (local $left v128) (local $right v128)

    (local.set $residual
      (i32.add
        (i32.add (local.get $slab) (global.get $residuals))
        (i32.mul (local.get $index) (global.get $code_bytes))))
    (local.set $row (global.get $codes))
    (local.set $end (call $unpack (local.get $slab) (local.get $index) (local.get $row)))
    (local.set $query (global.get $query_floats))
    (loop $lanes
      (local.set $left
        (i32x4.add
          (i32x4.mul
            (i32x4.extend_low_i16x8_s (i16x8.extend_low_i8x16_s (v128.load32_zero (local.get $row))))
            (v128.const i32x4 254 254 254 254))
          (i32x4.extend_low_i16x8_s (i16x8.extend_low_i8x16_s (v128.load32_zero (local.get $residual))))))
      (local.set $right (v128.load (local.get $query)))
      (local.set $a
        (f64x2.add
          (local.get $a)
          (f64x2.mul
            (f64x2.convert_low_i32x4_s (local.get $left))
            (f64x2.promote_low_f32x4 (local.get $right)))))
      (local.set $left (i8x16.shuffle 8 9 10 11 12 13 14 15 0 0 0 0 0 0 0 0 (local.get $left) (local.get $left)))
      (local.set $right (i8x16.shuffle 8 9 10 11 12 13 14 15 0 0 0 0 0 0 0 0 (local.get $right) (local.get $right)))
      (local.set $b
        (f64x2.add
          (local.get $b)
          (f64x2.mul
            (f64x2.convert_low_i32x4_s (local.get $left))
            (f64x2.promote_low_f32x4 (local.get $right)))))
      (local.set $query (i32.add (local.get $query) (i32.const 16)))
      (local.set $residual (i32.add (local.get $residual) (i32.const 4)))
      (br_if $lanes
        (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 4))) (local.get $end))))
    (local.set $a (f64x2.add (local.get $a) (local.get $b)))
    (f64.mul
      (f64.add (f64x2.extract_lane 0 (local.get $a)) (f64x2.extract_lane 1 (local.get $a)))
      (f64.div
        (f64.promote_f32
          (f32.load
            (i32.add
              (i32.add (local.get $slab) (global.get $scales))
              (i32.shl (local.get $index) (i32.const 2)))))
        (f64.const 254))))

  ;; Writes the integers of this row there, from the halves of them; returns the end. A byte of both halves is 136 more
  ;; than the integer.
  (func $unpack (param $slab i32) (param $index i32) (param $target i32) (result i32)
    (local $high i32) (local $low i32) (local $end i32) (local $highs v128) (local $lows v128) (local $mask v128)

    (local.set $mask (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f))
    (local.set $high
      (i32.add
        (i32.add (local.get $slab) (global.get $highs))
        (i32.mul (local.get $index) (global.get $half_bytes))))
    (local.set $low (i32.add (local.get $high) (i32.sub (global.get $lows) (global.get $highs))))
    (local.set $end (i32.add (local.get $high) (global.get $half_bytes)))
    (loop $pieces
      (local.set $highs (v128.load (local.get $high)))
      (local.set $lows (v128.load (local.get $low)))
      (v128.store (local.get $target)
        (i8x16.sub
          (v128.or
            (v128.andnot (i16x8.shl (local.get $highs) (i32.const 4)) (local.get $mask))
            (v128.and (local.get $lows) (local.get $mask)))
          (v128.const i32x4 0x88888888 0x88888888 0x88888888 0x88888888)))
      (v128.store offset=16 (local.get $target)
        (i8x16.sub
          (v128.or
            (v128.andnot (local.get $highs) (local.get $mask))
            (v128.and (i16x8.shr_u (local.get $lows) (i32.const 4)) (local.get $mask)))
          (v128.const i32x4 0x88888888 0x88888888 0x88888888 0x88888888)))
      (local.set $target (i32.add (local.get $target) (i32.const 32)))
      (local.set $low (i32.add (local.get $low) (i32.const 16)))
      (br_if $pieces
        (i32.lt_u (local.tee $high (i32.add (local.get $high) (i32.const 16))) (local.get $end))))
    (local.get $target))

  ;; How far the bounds of the listed row lie apart.
  (func $doubt
    (param $scales i32) (param $list i32) (param $number i32) (param $margin f32) (param $slack f32) (result f32)
    (f32.mul
      (f32.const 2)
      (f32.add
        (f32.mul
          (f32.load
            (i32.add
              (local.get $scales)
              (i32.shl
                (i32.load16_u (i32.add (local.get $list) (i32.shl (local.get $number) (i32.const 1))))
                (i32.const 2))))
          (local.get $margin))
        (local.get $slack))))

  ;; The four numbers with these indexes.
  (func $gather
    (param $from i32) (param $index0 i32) (param $index1 i32) (param $index2 i32) (param $index3 i32) (result v128)
    (v128.load32_lane 3
      (i32.add (local.get $from) (i32.shl (local.get $index3) (i32.const 2)))
      (v128.load32_lane 2
        (i32.add (local.get $from) (i32.shl (local.get $index2) (i32.const 2)))
        (v128.load32_lane 1
          (i32.add (local.get $from) (i32.shl (local.get $index1) (i32.const 2)))
          (v128.load32_zero (i32.add (local.get $from) (i32.shl (local.get $index0) (i32.const 2))))))))

  ;; The sum of the lanes of each.
  (func $sums (param $a v128) (param $b v128) (param $c v128) (param $d v128) (result v128)
    (local.set $a
      (i32x4.add
        (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $a) (local.get $b))
        (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $a) (local.get $b))))
    (local.set $c
      (i32x4.add
        (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $c) (local.get $d))
        (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $c) (local.get $d))))
    (i32x4.add
      (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $a) (local.get $c))
      (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $a) (local.get $c))))
)
