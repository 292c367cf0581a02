# Renders compiled documents with ERB.
#
#     ruby render.rb CASES.json > RESULTS.json
require 'date'
require 'erb'
require 'json'
require 'ostruct'

# Data in which keys are symbols, and dates are dates.
def prepared(value, dates, prefix = '')
  case value
  when Hash then value.to_h { |key, one| [key.to_sym, prepared(one, dates, "#{prefix}#{key}.")] }
  when Array then value.map { |one| prepared(one, dates, prefix) }
  when String then dates.include?(prefix.chomp('.')) && value != '' ? DateTime.parse(value) : value
  else value
  end
end

# Data whose fields are methods.
def methods_of(value)
  case value
  when Hash then OpenStruct.new(value.transform_values { |one| methods_of(one) })
  when Array then value.map { |one| methods_of(one) }
  else value
  end
end

results = JSON.parse(File.read(ARGV[0])).select { |one| one['dialect'].start_with?('erb') }.map do |one|
  methods = one['dialect'] == 'erb, methods'
  result = { engine: methods ? 'ERB, methods' : 'ERB', id: one['id'] }
  begin
    place = binding
    prepared(one['data'], one['dates']).each do |name, value|
      place.local_variable_set(name, methods ? methods_of(value) : value)
    end
    result[:output] = ERB.new(one['code']).result(place)
  rescue StandardError, SyntaxError => error
    result[:error] = "#{error.class}: #{error.message}"
  end
  result
end
puts JSON.generate(results)
