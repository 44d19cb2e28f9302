;; The loops over rows that JavaScript is too slow for. layout.ts says where things are in the memory. A list
;; holds indexes of rows in a slab, 16 bits each, those of one entry after another. kernel.ts holds the bytes
;; of this text; `vitest run test/search/vectors/kernel.test.ts -u` writes them anew.
(module
  (import "store" "memory" (memory 1 65535 shared))

  ;; Bytes of a vector as integers and as signs; its residuals take two bytes where an integer takes one.
  (import "layout" "codeBytes" (global $code_bytes i32))
  (import "layout" "sketchBytes" (global $sketch_bytes i32))
  ;; Sections of a slab, from its beginning.
  (import "slab" "codes" (global $codes i32))
  (import "slab" "scales" (global $scales i32))
  (import "slab" "centers" (global $centers i32))
  (import "slab" "distances" (global $distances i32))
  (import "slab" "sketches" (global $sketches i32))
  (import "slab" "residuals" (global $residuals i32))
  ;; What one query needs.
  (import "scratch" "query" (global $query i32))
  (import "scratch" "sketch" (global $query_sketch i32))
  (import "scratch" "floats" (global $query_floats i32))
  (import "scratch" "uppers" (global $uppers i32))
  (import "scratch" "chosen" (global $chosen i32))
  (import "scratch" "narrowed" (global $narrowed i32))
  (import "scratch" "histogram" (global $histogram i32))

  ;; Place among its capabilities of the best one of the entry last given to $similarity, -1 without any.
  (global $best (export "best") (mut i32) (i32.const -1))
  ;; Where to put what is read only to be near: what nobody uses might not be read.
  (global $touched (mut i32) (i32.const 0))

  ;; For each row in the list, the most that its dot product with the query can be:
  ;;   scale * (unit * (dot of integers - center) + margin) + slack
  ;; Four rows at a time, so that a piece of the query is loaded once for all of them, and the next four are
  ;; touched; after the last row come up to seven that an older list left there. The query is 14 bits and not
  ;; negative (its offset is what the centers take off again), in pieces of 16 high halves, then 16 low halves,
  ;; of 7 bits each: with the top bit clear, the relaxed dot product is exact on every processor.
  (func (export "estimate")
    (param $slab i32) (param $list i32) (param $listed i32)
    (param $unit f32) (param $margin f32) (param $slack f32)
    (local $rows i32) (local $scales i32) (local $centers i32) (local $uppers i32)
    (local $end i32) (local $piece i32) (local $row_end i32)
    (local $row0 i32) (local $row1 i32) (local $row2 i32) (local $row3 i32)
    (local $high v128) (local $low v128) (local $codes v128)
    (local $high0 v128) (local $high1 v128) (local $high2 v128) (local $high3 v128)
    (local $low0 v128) (local $low1 v128) (local $low2 v128) (local $low3 v128)
    (local $index0 i32) (local $index1 i32) (local $index2 i32) (local $index3 i32)

    (local.set $rows (i32.add (local.get $slab) (global.get $codes)))
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
      (local.set $row0 (i32.add (local.get $rows) (i32.mul (local.get $index0) (global.get $code_bytes))))
      (local.set $row1 (i32.add (local.get $rows) (i32.mul (local.get $index1) (global.get $code_bytes))))
      (local.set $row2 (i32.add (local.get $rows) (i32.mul (local.get $index2) (global.get $code_bytes))))
      (local.set $row3 (i32.add (local.get $rows) (i32.mul (local.get $index3) (global.get $code_bytes))))
      (call $touch (local.get $rows) (local.get $list))
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

  ;; The similarity of the entry with `width` rows from this index on, in double precision. Sets $best.
  (func (export "similarity")
    (param $slab i32) (param $index i32) (param $width i32) (result f64)
    (local $own f64) (local $other f64) (local $highest f64) (local $place i32)

    (global.set $best (i32.const -1))
    (local.set $own (call $dot (local.get $slab) (local.get $index)))
    (if (i32.eq (local.get $width) (i32.const 1)) (then (return (local.get $own))))
    (local.set $highest (f64.const -inf))
    (loop $others
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (local.set $other (call $dot (local.get $slab) (local.get $index)))
      (if (f64.gt (local.get $other) (local.get $highest))
        (then
          (local.set $highest (local.get $other))
          (global.set $best (local.get $place))))
      (local.set $place (i32.add (local.get $place) (i32.const 1)))
      (br_if $others
        (i32.lt_u (i32.add (local.get $place) (i32.const 1)) (local.get $width))))
    (f64.mul (f64.const 0.5) (f64.add (local.get $own) (local.get $highest))))

  ;; Writes how far the listed entries' sketches are from the query's, and adds that to the histogram: twice the
  ;; bits in which the only row differs, or the first row's bits and the nearest other's together.
  (func (export "measure")
    (param $slab i32) (param $list i32) (param $entries i32) (param $width i32)
    (local $sketches i32) (local $distances i32) (local $end i32) (local $row_end i32)
    (local $own i32) (local $nearest i32) (local $other i32) (local $bin i32)

    (local.set $sketches (i32.add (local.get $slab) (global.get $sketches)))
    (local.set $distances (i32.add (local.get $slab) (global.get $distances)))
    ;; In a slab the residuals follow the sketches.
    (call $touch_all (local.get $sketches) (i32.add (local.get $slab) (global.get $residuals)))
    (local.set $end (i32.add (local.get $distances) (i32.shl (local.get $entries) (i32.const 1))))
    (loop $next
      (br_if 1 (i32.ge_u (local.get $distances) (local.get $end)))
      (local.set $row_end (i32.add (local.get $list) (i32.shl (local.get $width) (i32.const 1))))
      (local.set $own
        (call $differing (local.get $sketches) (local.get $list)))
      (local.set $list (i32.add (local.get $list) (i32.const 2)))
      (local.set $nearest
        (select (local.get $own) (i32.const 0xffff) (i32.eq (local.get $width) (i32.const 1))))
      (block $done
        (loop $others
          (br_if $done (i32.ge_u (local.get $list) (local.get $row_end)))
          (local.set $other
            (call $differing (local.get $sketches) (local.get $list)))
          (local.set $nearest
            (select
              (local.get $other) (local.get $nearest) (i32.lt_u (local.get $other) (local.get $nearest))))
          (local.set $list (i32.add (local.get $list) (i32.const 2)))
          (br $others)))
      (local.set $own (i32.add (local.get $own) (local.get $nearest)))
      (i32.store16 (local.get $distances) (local.get $own))
      (local.set $bin (i32.add (global.get $histogram) (i32.shl (local.get $own) (i32.const 2))))
      (i32.store (local.get $bin) (i32.add (i32.load (local.get $bin)) (i32.const 1)))
      (local.set $distances (i32.add (local.get $distances) (i32.const 2)))
      (br $next)))

  ;; Lists in the scratch the rows of those listed entries that were measured to be no further away than this;
  ;; returns how many entries they are. Most entries are further away, so it looks at eight at once.
  (func (export "narrow")
    (param $slab i32) (param $list i32) (param $entries i32) (param $width i32) (param $furthest i32) (result i32)
    (local $narrowed i32) (local $distances i32) (local $entry i32) (local $kept i32)
    (local $row i32) (local $row_end i32) (local $most v128)

    (local.set $narrowed (global.get $narrowed))
    (local.set $distances (i32.add (local.get $slab) (global.get $distances)))
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
                (local.set $narrowed (i32.add (local.get $narrowed) (i32.const 2)))
                (br_if $rows
                  (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 2))) (local.get $row_end))))))
          (local.set $entry (i32.add (local.get $entry) (i32.const 1)))
          (br $next))))
    (local.get $kept))

  ;; Dot product of this row with the floats of the query: scale * (integer + residual / 65534) is a number of the
  ;; row with 24 bits. A sum of 32 bits holds 65534 * integer + residual exactly.
  (func $dot (param $slab i32) (param $index i32) (result f64)
    (local $row i32) (local $residual i32) (local $query i32) (local $end i32)
    (local $a v128) (local $b v128) (local $left v128) (local $right v128)

    (local.set $row (i32.mul (local.get $index) (global.get $code_bytes)))
    (local.set $residual
      (i32.add
        (i32.add (local.get $slab) (global.get $residuals))
        (i32.shl (local.get $row) (i32.const 1))))
    (local.set $row (i32.add (i32.add (local.get $slab) (global.get $codes)) (local.get $row)))
    (local.set $query (global.get $query_floats))
    (local.set $end (i32.add (local.get $row) (global.get $code_bytes)))
    (loop $lanes
      (local.set $left
        (i32x4.add
          (i32x4.mul
            (i32x4.extend_low_i16x8_s (i16x8.extend_low_i8x16_s (v128.load32_zero (local.get $row))))
            (v128.const i32x4 65534 65534 65534 65534))
          (i32x4.extend_low_i16x8_s (v128.load64_zero (local.get $residual)))))
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
      (local.set $residual (i32.add (local.get $residual) (i32.const 8)))
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
        (f64.const 65534))))

  ;; Number of bits in which the sketch of the row listed here differs from the query's.
  (func $differing (param $sketches i32) (param $list i32) (result i32)
    (local $query i32) (local $row i32) (local $end i32) (local $bits i64)

    (local.set $query (global.get $query_sketch))
    (local.set $row
      (i32.add (local.get $sketches) (i32.mul (i32.load16_u (local.get $list)) (global.get $sketch_bytes))))
    (local.set $end (i32.add (local.get $row) (global.get $sketch_bytes)))
    (loop $pieces
      (local.set $bits
        (i64.add
          (local.get $bits)
          (i64.add
            (i64.add
              (i64.popcnt (i64.xor (i64.load (local.get $row)) (i64.load (local.get $query))))
              (i64.popcnt (i64.xor (i64.load offset=8 (local.get $row)) (i64.load offset=8 (local.get $query)))))
            (i64.add
              (i64.popcnt
                (i64.xor (i64.load offset=16 (local.get $row)) (i64.load offset=16 (local.get $query))))
              (i64.popcnt
                (i64.xor (i64.load offset=24 (local.get $row)) (i64.load offset=24 (local.get $query))))))))
      (local.set $query (i32.add (local.get $query) (i32.const 32)))
      (br_if $pieces
        (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 32))) (local.get $end))))
    (i32.wrap_i64 (local.get $bits)))

  ;; Reads a byte of every line of the cache of the next four rows listed, so that they come all at once while
  ;; the four before them are worked on.
  (func $touch (param $rows i32) (param $list i32)
    (local $row0 i32) (local $row1 i32) (local $row2 i32) (local $row3 i32) (local $line i32) (local $sum i32)

    (local.set $row0
      (i32.add (local.get $rows) (i32.mul (i32.load16_u (local.get $list)) (global.get $code_bytes))))
    (local.set $row1
      (i32.add (local.get $rows) (i32.mul (i32.load16_u offset=2 (local.get $list)) (global.get $code_bytes))))
    (local.set $row2
      (i32.add (local.get $rows) (i32.mul (i32.load16_u offset=4 (local.get $list)) (global.get $code_bytes))))
    (local.set $row3
      (i32.add (local.get $rows) (i32.mul (i32.load16_u offset=6 (local.get $list)) (global.get $code_bytes))))
    (loop $lines
      (local.set $sum
        (i32.add
          (i32.add
            (i32.add (local.get $sum) (i32.load8_u (i32.add (local.get $row0) (local.get $line))))
            (i32.load8_u (i32.add (local.get $row1) (local.get $line))))
          (i32.add
            (i32.load8_u (i32.add (local.get $row2) (local.get $line)))
            (i32.load8_u (i32.add (local.get $row3) (local.get $line))))))
      (br_if $lines
        (i32.lt_u (local.tee $line (i32.add (local.get $line) (i32.const 64))) (global.get $code_bytes))))
    (global.set $touched (local.get $sum)))

  ;; Reads a byte of every line of the cache from here to there, for the same reason.
  (func $touch_all (param $line i32) (param $end i32)
    (local $sum i32)

    (loop $lines
      (local.set $sum (i32.add (local.get $sum) (i32.load8_u (local.get $line))))
      (br_if $lines
        (i32.lt_u (local.tee $line (i32.add (local.get $line) (i32.const 64))) (local.get $end))))
    (global.set $touched (local.get $sum)))

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
