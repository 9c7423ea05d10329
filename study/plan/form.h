// The keys of JSON files that people write, declared once. Readers check keys by a form (Place::keys), `weft
// schema` makes a JSON Schema of the forms of a file, and experiments/REFERENCE.md is their table.
//
//   const FileForm kPets{"pets", "pets.json", "The pets of a house.", shapes::list(shapes::form("pet")),
//                        {{"pet", "", {needed("name", shapes::text(), "how it is called"),
//                                      optional("legs", shapes::whole(0, 8), "how many it stands on")}}}};
//   place.keys(kPets["pet"]);
//
// A form says which keys there may be and what each of them holds. Rules that join several keys, or ask for
// names that stand elsewhere in a file, are the readers' alone.
#ifndef WEFT_STUDY_PLAN_FORM_H
#define WEFT_STUDY_PLAN_FORM_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace weft::study {

// What a value may be: as JSON Schema, and in words (Markdown) for the reference.
struct Shape {
  nlohmann::ordered_json schema;
  std::string words;
};

namespace shapes {
Shape text();  // not empty
Shape setting();
Shape flag();
Shape number();
Shape at_least(double low);              // numbers
Shape above(double low);                 // numbers
Shape between(double low, double high);  // numbers, the ends are not allowed
Shape whole(std::uint64_t low, std::uint64_t high);
Shape plain();    // what can stand behind "path="
Shape nothing();  // null
Shape one_of(const std::vector<std::string>& words);
Shape any_of(const std::vector<Shape>& shapes);
Shape list(const Shape& item, std::size_t least = 1);
Shape list_of(std::size_t number, const Shape& item);
Shape map(const Shape& value, std::size_t least = 1);  // from names
Shape form(const std::string& name);                   // a form of the same file
}  // namespace shapes

struct Key {
  std::string name;
  Shape shape;
  bool needed = false;
  std::string meaning;
};
Key needed(const std::string& name, const Shape& shape, const std::string& meaning);
Key optional(const std::string& name, const Shape& shape, const std::string& meaning);

// An object with these keys, or, without keys, any of other shapes.
struct Form {
  std::string name, about;
  std::vector<Key> keys;
  std::vector<Shape> any_of = {};

  std::vector<std::string> names(bool needed) const;
};

// A kind of file. The whole of it is of the shape, or, if that is empty, an object of the first form.
struct FileForm {
  std::string name, path, about;
  Shape whole;
  std::vector<Form> forms;

  const Form& operator[](std::string_view form) const;  // which is there
};

// JSON Schema, draft 7.
nlohmann::ordered_json schema_of(const FileForm& file);
// A section of Markdown, with a table for each form.
std::string reference_of(const FileForm& file);

}  // namespace weft::study

#endif
